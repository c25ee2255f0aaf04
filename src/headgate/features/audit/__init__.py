"""Audit log: who changed what, from where, in a hash chain that makes removals detectable."""
