"""How each kind of source is listed and read. All of them offer what `protocol` describes."""
