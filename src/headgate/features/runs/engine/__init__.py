"""Carrying runs out: the port to a backend and the embedded one."""
