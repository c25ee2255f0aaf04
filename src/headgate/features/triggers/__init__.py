"""Triggers: flows that start by themselves, each occurrence once."""
