"""Instructions for the model by platform: Markdown, by section, with a fallback in code."""
