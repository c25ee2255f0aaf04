"""Everything that the offline builder can do, one recipe each."""
