"""The backups in a folder: list them, and delete the oldest."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from headgate.entrypoints.backups.archive import is_sealed
from headgate.entrypoints.backups.create import SUFFIX
from headgate.foundation.settings import Settings

_NAME = re.compile(rf"headgate-(\d{{8}}T\d{{12}})Z{re.escape(SUFFIX)}")


@dataclass(frozen=True, slots=True)
class StoredBackup:
    """A backup in a folder."""

    path: Path
    created_at: datetime
    archive_bytes: int
    sealed: bool


def backup_folder(settings: Settings) -> Path:
    """The folder of backups."""
    return settings.backup.folder or settings.data_dir / "backups"


def list_backups(folder: Path) -> list[StoredBackup]:
    """The backups in a folder that have the name Headgate gives, newest first."""
    backups = []
    for path in folder.glob(f"*{SUFFIX}"):
        match = _NAME.fullmatch(path.name)
        if match is not None and path.is_file():
            at = datetime.strptime(match[1], "%Y%m%dT%H%M%S%f").replace(tzinfo=UTC)
            backups.append(StoredBackup(path, at, path.stat().st_size, is_sealed(path)))
    return sorted(backups, key=lambda backup: backup.created_at, reverse=True)


def prune_backups(folder: Path, *, keep: int) -> list[StoredBackup]:
    """Delete all but the newest backups of a folder. Returns those that were deleted."""
    old = list_backups(folder)[keep:]
    for backup in old:
        backup.path.unlink()
    return old
