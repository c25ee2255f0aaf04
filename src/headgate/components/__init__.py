"""The built-in components, one module a category."""
