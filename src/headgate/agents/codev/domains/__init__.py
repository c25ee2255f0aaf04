"""The kinds of place that the development agent can work in."""
