"""Knowledge: documents of a space that flows and agents answer from, with citations that can be checked."""
