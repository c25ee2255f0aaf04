"""The Flowise servers of a tenant."""
