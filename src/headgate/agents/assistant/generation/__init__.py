"""Writing a component that is missing: a model writes, the sandbox checks, faults go back until it passes."""
