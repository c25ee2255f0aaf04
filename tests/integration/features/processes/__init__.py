"""Processes of the installation, and drain mode."""
