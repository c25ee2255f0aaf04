"""Audit reports: what a flow is made of, and what a run of it came to, as a PDF for people who check."""
