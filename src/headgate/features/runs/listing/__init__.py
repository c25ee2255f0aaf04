"""The list of flows, each with its newest run: the first page of the studio."""
