"""From steps to the nodes and edges of a flow."""
