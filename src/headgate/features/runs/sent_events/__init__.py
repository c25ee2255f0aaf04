"""Events that users, programs and flows send to waiting steps.

`runs.events` is the other direction: what Headgate publishes about a run while it runs.
"""
