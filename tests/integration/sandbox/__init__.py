"""The sandbox with its processes, attacked."""
