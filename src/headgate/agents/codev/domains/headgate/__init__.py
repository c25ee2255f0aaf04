"""The Headgate platform, through the toolkit."""
