"""Converts documents to text, tables and data. Blocking and bounded; call it in a thread."""
