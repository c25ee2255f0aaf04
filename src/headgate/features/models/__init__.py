"""Model providers, the model catalogue and the local model."""
