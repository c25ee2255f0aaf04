"""Who is asking and what they may do: the table of permissions, and the caller of a route."""
