"""Connections without an outgoing proxy."""

from headgate.foundation.settings import OutgoingSettings

DIRECT = OutgoingSettings()
