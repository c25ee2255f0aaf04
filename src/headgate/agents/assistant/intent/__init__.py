"""Intent classification of a request, from its text, the last turns and the canvas."""
