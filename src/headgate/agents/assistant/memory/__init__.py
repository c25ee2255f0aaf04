"""What was said in a conversation with the assistant, for the turns that follow (seed 000, ADR-020)."""
