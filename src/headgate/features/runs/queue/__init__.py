"""The queue: which runs wait, why and at which place, which run, and the limits in use; priorities."""
