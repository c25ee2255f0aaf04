"""Settings of backups."""

from pathlib import Path

from pydantic import BaseModel, Field


class BackupSettings(BaseModel, defer_build=True):
    """Backups of the installation: where they are stored, and how often the server makes one."""

    folder: Path | None = Field(
        default=None,
        description="Folder of backups. Empty: `backups` in the data folder, which a lost disk takes along.",
    )
    every_hours: float | None = Field(
        default=None,
        gt=0,
        le=8760,
        description="Hours between scheduled backups. Empty: none are scheduled, and `headgate doctor` does not "
        "warn when the last one is old.",
    )
    keep: int = Field(default=7, ge=1, description="Scheduled backups that are kept; older ones are deleted.")
    passphrase_file: Path | None = Field(
        default=None,
        description="File with the passphrase that encrypts backups. Empty: backups are not encrypted, and do not "
        "contain the keys.",
    )
