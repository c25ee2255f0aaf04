"""A user's own files: the sandboxed workspace of seed 003."""
