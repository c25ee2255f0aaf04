"""The offline builder: understands a documented set of requests without a model, a key or a network."""
