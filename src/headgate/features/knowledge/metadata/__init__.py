"""Metadata of documents: typed values, and conditions on them."""
