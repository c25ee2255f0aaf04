"""The language model behind a session, whichever it is."""
