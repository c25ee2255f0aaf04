"""Outputs sent to web addresses: rows with attempts of their own, sent again without running again."""
