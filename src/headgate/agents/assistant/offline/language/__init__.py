"""Part of the offline builder."""
