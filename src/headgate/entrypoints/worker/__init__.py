"""Worker and beat processes of the distributed engine."""
