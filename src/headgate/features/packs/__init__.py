"""Packs: signed archives of components, connection kinds, templates, skills and translations. Executes nothing."""
