"""Evidence of a run: one reproducible document, chained, signed, and verifiable without a server.

`canonical`, `chain`, `seal`, `masking`, `archive` and `verify` are pure; `package` builds the document from rows, and
`service` reads them.
"""
