"""Changes to the flow at hand."""
