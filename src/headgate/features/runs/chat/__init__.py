"""Conversations of users with published flows: each message is a run of the same chat session."""
