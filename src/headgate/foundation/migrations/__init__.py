"""Schema migrations, one file per change in `versions/`; each runs on SQLite and PostgreSQL."""
