"""Schema migrations, one file a change in `versions/`; each runs on SQLite and PostgreSQL."""
