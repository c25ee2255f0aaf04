"""Published flows on external pages: a form or a chat in a sandboxed frame, for anonymous visitors."""
