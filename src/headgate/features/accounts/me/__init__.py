"""Who is asking: their account, and what they may do."""
