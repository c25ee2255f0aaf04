"""A second factor at sign-in: codes of an authenticator app, recovery codes, and who must have one."""
