"""Service level objectives (SLOs) of flows: target, error budget and burn rate."""
