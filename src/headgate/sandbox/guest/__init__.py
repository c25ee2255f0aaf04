"""Code inside the sandbox: the zygote and its workers. Uses only the standard library and no other Headgate module.

The zygote is a new interpreter without environment variables and without the server's modules, so everything here must
start in milliseconds and without site-packages.
"""
