"""Audit reports as PDF: the structure of a flow and the results of a run."""
