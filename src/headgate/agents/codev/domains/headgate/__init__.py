"""Our own flows as a place, through the toolkit."""
