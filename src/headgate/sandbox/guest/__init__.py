"""What runs on the far side: the zygote and its workers. Standard library only, imports nothing else of Headgate.

The zygote is a fresh interpreter that sees no environment and none of the server's modules, so everything here has to
start in milliseconds and without site-packages.
"""
