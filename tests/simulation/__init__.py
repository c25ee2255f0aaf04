"""A deterministic simulator of the engine: `python -m tests.simulation --help`.

The code under test is the real one: engine, store, sweep, lease, distribution and events, on a real SQLite file. The
simulator owns what is around it: the event loop of every process and which one goes next, every await, the clocks,
the disk, the lock of the database, the message queue, and the moments at which processes die.
"""
