"""Files of a run: reading, writing, converting."""
