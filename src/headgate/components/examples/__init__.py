"""One small flow for each component, in text form, for the reference page."""
