"""Test sets of flows: executed as real runs, and required before publishing when a flow's settings say so."""
