"""Shared assistants: a model with instructions that steps of several flows can link to."""
