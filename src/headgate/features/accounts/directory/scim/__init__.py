"""SCIM protocol (RFC 7643 and RFC 7644) for identity providers."""
