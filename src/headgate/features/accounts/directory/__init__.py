"""A directory (SCIM 2.0): an identity provider creates users and groups here, and shuts users out."""
