"""Passages: how the text of a document is read, divided into passages, and compared with its previous version."""
