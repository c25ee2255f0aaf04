"""Public addresses of triggers: calls of other services, and forms for visitors."""
