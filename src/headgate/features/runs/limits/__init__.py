"""What limits runs and flows, and how much of it is used, for users."""
