"""Custom components written by users or the assistant: checked once in the sandbox, identified by content."""
