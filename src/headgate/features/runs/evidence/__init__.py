"""Evidence of a run: one document that is the same each time, chained, signed, and checked without a server.

`canonical`, `chain`, `seal`, `masking`, `archive` and `verify` are pure; `package` makes the document from rows, and
`service` reads them.
"""
