"""Small pages for signing in and setting a password: HTML, one style sheet, one script, nothing to build."""
