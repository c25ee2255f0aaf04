"""The distributed engine: runs carried out by Celery workers. The database is the truth; messages are hints."""
