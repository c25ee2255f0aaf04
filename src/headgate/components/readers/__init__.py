"""Documents into text, tables and data. Blocking and bounded; call them in a thread."""
