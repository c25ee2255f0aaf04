"""The chat assistant: one loop, one toolkit, and the offline builder that needs no key."""
