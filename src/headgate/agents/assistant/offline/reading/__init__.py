"""From the text of a request to tokens, in one language."""
