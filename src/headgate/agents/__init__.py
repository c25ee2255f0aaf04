"""Agents that act through the toolkit."""
