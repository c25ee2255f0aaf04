"""Published flows as chat models of the OpenAI API: what speaks to a model there speaks to a flow here."""
