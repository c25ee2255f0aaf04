"""Server side of the workers: start, requests and responses, watchdog and pool."""
