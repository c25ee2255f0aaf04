"""What a person's conversation with the assistant has: remembered turns, and components that were made in it."""
