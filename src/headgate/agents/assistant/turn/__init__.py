"""What one request holds and tells: its state, its limits, its events, and which of them reach a page."""
