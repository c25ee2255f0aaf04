"""The rows of runs: the port, and one adapter per database."""
