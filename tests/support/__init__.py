"""Scripted servers and other stand-ins for what leaves the machine."""
