"""What people use today for durable steps, doing the same ten steps on the same PostgreSQL and Redis.

Each runs in a process of its own (`python -m benchmarks.peers NAME POSTGRES_URL REDIS_URL`), so that what it does while
another is measured is not counted, and all that it starts is. Their packages are in the dependency group `bench`.
"""
