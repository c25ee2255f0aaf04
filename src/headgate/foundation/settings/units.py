"""Units that settings are given in."""

MEBIBYTE = 1024 * 1024
