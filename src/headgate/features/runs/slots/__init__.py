"""Slots: how many runs of a flow, steps with a key and calls of a model run at the same time."""
