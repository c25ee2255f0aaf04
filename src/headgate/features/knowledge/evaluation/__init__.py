"""How well a knowledge base is searched: questions with the documents that answer them, and measures of retrieval."""
