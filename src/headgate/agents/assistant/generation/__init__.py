"""Generation of missing components: a model writes, the sandbox checks, errors are sent back until it passes."""
