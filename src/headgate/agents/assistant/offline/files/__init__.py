"""Requests about the files of a person's workspace: what they ask for, and what the tools answered, in words."""
