"""Published flows on outside pages: a form or a chat in a sandboxed frame, for people whom nobody knows."""
