"""Which model answers a turn, which next when that one is not given, and what it costs."""
