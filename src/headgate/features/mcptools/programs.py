"""What a program may reach, declared with its server: hosts and folders, within the operator's limits."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.mcptools.errors import BadMcpServer, ProgramsRefused
from headgate.foundation.settings import McpSettings, Settings
from headgate.sandbox.hosts import read_pattern

MAX_ENTRIES = 32
MAX_CHARACTERS = 1024
Entries = Annotated[list[Annotated[str, Field(min_length=1, max_length=MAX_CHARACTERS)]], Field(max_length=MAX_ENTRIES)]


class ProgramAccess(BaseModel):
    """What a program may reach in addition to the system's files and its own empty home."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hosts: Entries = Field(
        default_factory=list,
        description=(
            "Hosts that it may connect to by HTTP, such as `api.example.org`, `*.example.net` or `db.example.org:8443`."
        ),
    )
    read: Entries = Field(default_factory=list, description="Folders that it may read and execute.")
    write: Entries = Field(default_factory=list, description="Folders that it may read, execute and change.")

    def __str__(self) -> str:
        parts = (("connect to", self.hosts), ("read", self.read), ("write", self.write))
        return "; ".join(f"{kind}: {', '.join(entries) or 'none'}" for kind, entries in parts)


class ProgramRules:
    """The operator's rules for programs.

    Args:
        settings: Whether there may be any, and the folders that may be declared, with everything beneath them.
        data_dir: Headgate's own folder, which no program may have.
        insecure: Whether they run as the server does where this system cannot isolate them.
    """

    def __init__(self, settings: McpSettings, data_dir: Path, *, insecure: bool) -> None:
        self.insecure = insecure
        self._settings = settings
        self._data_dir = data_dir

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the rules of an installation."""
        return cls(settings.mcp, settings.data_dir, insecure=settings.sandbox.insecure)

    def require_allowed(self, name: str) -> None:
        """Raise `ProgramsRefused` where there may be none."""
        if not self._settings.allow_stdio:
            raise ProgramsRefused(name)

    def checked(self, name: str, access: ProgramAccess) -> ProgramAccess:
        """Return the access with the real paths of its folders: links are followed now, and not again at the start.

        Raises `BadMcpServer`, and `BadUrl` for an invalid host.
        """
        for host in access.hosts:
            read_pattern(host)
        folders = {
            kind: [str(self._folder(name, text)) for text in getattr(access, kind)] for kind in ("read", "write")
        }
        return access.model_copy(update=folders)

    def _folder(self, name: str, text: str) -> Path:
        path = Path(text)
        if not path.is_absolute() or "\x00" in text:
            raise BadMcpServer(f"The folder '{text[:200]}' of '{name}' is not an absolute path.")
        real = path.resolve()
        data_dir = self._data_dir.resolve()
        if not any(real.is_relative_to(allowed.resolve()) for allowed in self._settings.program_folders):
            raise BadMcpServer(
                f"The operator allows no program the folder '{text[:200]}'.",
                remedy="The operator adds it to HEADGATE_MCP__PROGRAM_FOLDERS.",
            )
        if real.is_relative_to(data_dir) or data_dir.is_relative_to(real):
            raise BadMcpServer(f"The folder '{text[:200]}' contains Headgate's data, which no program may read.")
        if not real.is_dir():
            raise BadMcpServer(f"The folder '{text[:200]}' of '{name}' does not exist.")
        return real
