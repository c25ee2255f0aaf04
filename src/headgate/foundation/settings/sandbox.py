"""Sandbox settings."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

OwnCodeHost = Annotated[
    str,
    StringConstraints(pattern=r"^(?:\*|(?:\*\.)?[\w-]+(?:\.[\w-]+)*|\[[0-9A-Fa-f:.]+\])(?::(?:\*|[0-9]{1,5}))?$"),
]
"""A host with or without port, as `sandbox/hosts.py` reads it."""


class SandboxSettings(BaseModel, defer_build=True):
    """Code that came with a flow."""

    insecure: bool = Field(
        default=False,
        description=(
            "Run custom code in an ordinary separate process where the system lacks Landlock or "
            "seccomp. Off: it is rejected there."
        ),
    )
    memory_mb: int = Field(default=512, ge=64, description="Maximum memory of one sandbox process.")
    timeout_seconds: float = Field(default=10.0, gt=0, description="Timeout of one call.")
    hosts: list[OwnCodeHost] = Field(
        default_factory=list,
        description=(
            "Hosts that custom components may connect to if their manifest names them: a JSON list "
            'such as `["api.example.org", "*.example.net", "db.example.org:5432"]`; `*` for '
            "all. Ports 80 and 443 unless one is named, `:*` for any. The address rules of "
            "`HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS` apply. Empty: custom code has no network."
        ),
    )
