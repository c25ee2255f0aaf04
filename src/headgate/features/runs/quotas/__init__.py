"""Quotas of tenants, spaces and visitors: limits and usage."""
