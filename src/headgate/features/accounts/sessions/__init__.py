"""Sign-in with a password, and sessions."""
