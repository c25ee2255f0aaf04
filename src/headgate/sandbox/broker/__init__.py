"""The network of sandboxed code: the server looks names up, checks, connects, and passes the connected socket."""
