"""What the assistant says it did is what happened: what is reported, what is claimed, and whether it runs."""
