"""The component registry and the template gallery."""
