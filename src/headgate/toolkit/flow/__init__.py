"""Tools on a flow as a whole: its index, its values in pages, its form, settings, rules and groups, its grammar."""
