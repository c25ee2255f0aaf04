"""Runs code that came with a flow outside the server process.

`pool.SandboxPool` runs it, `report.probe` reports the isolation of this system, `scan.scan_code` analyses code without
running it. This package imports nothing: the zygote imports it and has only the standard library.
"""
