"""The real Flowise: its process, and an account with a key on it."""
