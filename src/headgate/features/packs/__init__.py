"""Packs: signed archives with components, connection kinds, templates and translations. Reading one executes nothing."""
