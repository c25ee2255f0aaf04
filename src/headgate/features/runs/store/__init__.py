"""Storage of runs: the port, and one adapter per database."""
