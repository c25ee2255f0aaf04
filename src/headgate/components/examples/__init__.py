"""One small flow for each component, in the text form; the reference page shows them."""
