"""The distributed engine: Celery workers execute runs. The database is authoritative; messages are hints."""
