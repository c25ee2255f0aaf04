"""One request: its state, its limits, its events, and which of them reach a page."""
