"""State of flows: values that last between runs."""
