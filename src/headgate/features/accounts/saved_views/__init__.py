"""Saved views of lists: filters and columns that a user has named, or that the page remembers."""
