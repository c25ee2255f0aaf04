"""Run statistics over time: counts, durations, costs and failures."""
