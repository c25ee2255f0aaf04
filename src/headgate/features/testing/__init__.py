"""Test sets of flows: run as real runs, and required before publishing where a flow says so."""
