"""Execution of runs: the port to a backend, the embedded engine and the distributed one."""
