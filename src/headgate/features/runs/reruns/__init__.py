"""Going on with runs that are over: resuming, and running again from a step, with the paid results kept."""
