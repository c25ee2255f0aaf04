"""What belongs to a backup, and where it is on this machine. A test holds the list to the data folder of a server."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url

from headgate.agents.codev.sessions.checkpoints import FILE as SESSIONS_FILE
from headgate.foundation.errors import Invalid
from headgate.foundation.keyring import KeyRing
from headgate.foundation.pending_restore import JOURNAL
from headgate.foundation.private_files import DATABASE_FILE, EVIDENCE_KEY_FILE, KEY_FILE
from headgate.foundation.settings import Settings

LOCK = "restore.lock"
"""File that a restore locks."""
OMITTED = frozenset({"workers", "metrics", "up", "services", "beat-schedule", "backups", JOURNAL, LOCK})
"""Entries of the data folder that describe running processes or restores, or are backups themselves."""
BEFORE = "before-restore-"
"""Prefix of folders with data that a restore replaced."""
STAGING = ".headgate-restore-"
"""Prefix of folders in which a restore prepares files."""
_SIDE_FILES = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder of the installation, and its name in the archive."""

    member: str
    path: Path
    is_folder: bool = False
    is_database: bool = False
    is_key: bool = False

    @property
    def present(self) -> bool:
        """Whether it exists."""
        if not self.is_folder:
            return self.path.exists()
        return self.path.is_dir() and any(not is_ours(child.name) for child in self.path.iterdir())

    @property
    def side_files(self) -> list[Path]:
        """Files that SQLite keeps next to a database."""
        return [Path(f"{self.path}{suffix}") for suffix in _SIDE_FILES] if self.is_database else []


def places_of(settings: Settings) -> list[Place]:
    """Return all data locations of an installation, the database first if it is a file. Raises `Invalid`."""
    folder = settings.data_dir
    databases = [Place(f"databases/{SESSIONS_FILE}", folder / SESSIONS_FILE, is_database=True)]
    database = sqlite_file(settings)
    if database is not None:
        databases.insert(0, Place(f"databases/{DATABASE_FILE}", database, is_database=True))
    return [
        *databases,
        Place(f"keys/{KEY_FILE}", folder / KEY_FILE, is_key=True),
        Place(f"keys/{EVIDENCE_KEY_FILE}", folder / EVIDENCE_KEY_FILE, is_key=True),
        Place("keys/added", KeyRing(settings).folder, is_folder=True, is_key=True),
        Place("files", folder / "files", is_folder=True),
        Place("workspace", settings.workspace.base_dir or folder / "workspace", is_folder=True),
        Place("skills", folder / "skills", is_folder=True),
    ]


def sqlite_file(settings: Settings) -> Path | None:
    """The SQLite file of the installation; None with PostgreSQL. Raises `Invalid` for a database in memory."""
    url = make_url(settings.database_url)
    if url.get_backend_name() != "sqlite":
        return None
    if url.database in (None, "", ":memory:"):
        raise Invalid("A database in memory cannot be backed up or restored.", remedy="Set HEADGATE_DATABASE__URL.")
    return Path(str(url.database))


def place_of(places: list[Place], name: str) -> Place | None:
    """Return the location of an archive member; None for an unknown one."""
    for place in places:
        if name == place.member or (place.is_folder and name.startswith(f"{place.member}/")):
            return place
    return None


def is_ours(name: str) -> bool:
    """Whether a name in a folder is one that restores or unfinished uploads use."""
    return name.startswith((BEFORE, STAGING, ".incoming"))
