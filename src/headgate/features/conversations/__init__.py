"""Conversations of users: the last turns with the assistant, and the conversations with published flows."""
