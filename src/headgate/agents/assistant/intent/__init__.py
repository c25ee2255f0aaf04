"""What a request is, from its words, the last turns and the canvas."""
