"""Markdown into PDF and Word documents, made in a process of its own that can do nothing else.

`maker.make_document` is the way in. Pandoc reads the Markdown and writes Word; Typst sets the PDF. Both come with the
extra `documents` and are never imported by the server itself.
"""
