"""Tools for complete flows: index, values in pages, form, settings, policies and groups, grammar."""
