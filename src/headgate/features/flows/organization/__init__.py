"""Folders, tags and favourites of flows, the trash, and actions on many flows."""
