"""Runs code that came with a flow outside the server process.

`pool.SandboxPool` runs it, `report.probe` tells what this system has, `scan.scan_code` reads code without running it.
Nothing is imported here: the zygote passes through this package and has the standard library only.
"""
