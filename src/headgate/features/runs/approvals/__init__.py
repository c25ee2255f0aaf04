"""Approvals: decisions of users that steps wait for."""
