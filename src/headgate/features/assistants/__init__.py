"""Shared assistants: a model with instructions that several steps of several flows can link to."""
