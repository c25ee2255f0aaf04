"""The platforms that the development agent supports."""
