"""The words of each language: which there are, and the files with what can be said in them."""
