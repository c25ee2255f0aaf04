"""The sandbox without its processes: scan, filter, frames, answers, report."""
