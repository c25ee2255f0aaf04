"""What a request is: stateless, the same words always mean the same."""
