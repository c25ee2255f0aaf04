"""API keys: a user's permissions for programs, restricted by scopes and spaces."""
