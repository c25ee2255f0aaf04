"""Processing of data and tables."""
