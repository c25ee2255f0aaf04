"""Alerts: rules that are evaluated every minute, what they found, and notices of it."""
