"""What the model is told of a place: Markdown, by section, with a fallback in code."""
