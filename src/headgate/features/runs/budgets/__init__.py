"""Budgets of runs and of flows per day: accounts that a step charges before it spends."""
