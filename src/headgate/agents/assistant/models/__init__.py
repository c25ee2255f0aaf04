"""Models of a turn: selection, fallbacks and costs."""
