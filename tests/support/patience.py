"""How long a test waits for what should come at once."""

PATIENCE_SECONDS = 60.0
"""Far longer than anything takes: a busy processor or a cold disk is no failure. Waiting costs only where it fails."""
