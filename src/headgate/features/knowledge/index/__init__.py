"""The indexes that are searched: lexical and vectors. Rights and classification are conditions of every query."""
