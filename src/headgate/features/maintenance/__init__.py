"""Jobs that keep an installation in order: retention, the sweep of orphans, what was left undone."""
