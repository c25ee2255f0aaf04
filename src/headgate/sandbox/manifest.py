"""What own code may reach, as far as reading it tells."""

from headgate.graph.manifest import NOTHING, Manifest

__all__ = ["NOTHING", "Manifest"]
