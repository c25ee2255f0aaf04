"""What the assistant says it did is what happened: what reaches the page, what is reported, and whether it runs."""
