"""Quotas of organisations, spaces and visitors: what they may use, and what they have used."""
