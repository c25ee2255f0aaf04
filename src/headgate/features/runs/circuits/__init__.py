"""Circuit breakers: hosts that do not answer are not asked for a while."""
