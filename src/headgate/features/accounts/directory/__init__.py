"""Directory synchronisation (SCIM 2.0): an identity provider creates, changes and deactivates users and groups."""
