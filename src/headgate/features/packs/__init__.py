"""Packs: signed archives of components, connection kinds, templates and translations. Reading one executes nothing."""
