"""Tests with real databases, processes and servers."""
