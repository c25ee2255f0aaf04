"""The development agent: clarifies, plans, waits for approval, builds, tests and converges, on a flow of a domain."""
