"""Flows that earlier sessions brought to their end, to be found and used again."""
