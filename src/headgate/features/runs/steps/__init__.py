"""One step: planned, given its inputs, carried out, written down."""
