"""Finding out whose a key or a session is, over connections of their own."""
