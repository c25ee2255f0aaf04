"""The local model: weights that can be pulled, the folder they live in, and the server that runs them."""
