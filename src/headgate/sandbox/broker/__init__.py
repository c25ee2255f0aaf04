"""Network of sandboxed code: the server resolves names, checks, connects, and passes the connected socket."""
