"""Converts Markdown to PDF and Word documents in a separate, confined process.

`maker.make_document` is the entry point. Pandoc parses the Markdown and writes Word; Typst writes the PDF. Both come
with the extra `documents` and are never imported by the server itself.
"""
