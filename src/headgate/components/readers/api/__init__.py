"""Descriptions of APIs in any format, read into one form: `reading` is the entry, `description` the form."""
