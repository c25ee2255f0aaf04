"""Settings of people's workspaces."""

from pathlib import Path

from pydantic import BaseModel, Field, field_validator

MEBIBYTE = 1024 * 1024


class WorkspaceSettings(BaseModel, defer_build=True):
    """Files that people's agents keep. Keep the folder, with the file `.fs_pepper` in it, as one piece in backups."""

    base_dir: Path | None = Field(
        default=None,
        description="Folder of all workspaces, an absolute path; every server and worker has to see the same one. "
        "Empty: `workspace` in the data folder.",
    )
    max_bytes: int = Field(
        default=256 * MEBIBYTE, ge=1024, description="What the files of one person may take up together."
    )
    max_files: int = Field(default=2_000, ge=1, le=100_000, description="How many files one person may keep.")

    @field_validator("base_dir")
    @classmethod
    def _is_absolute(cls, folder: Path | None) -> Path | None:
        found = None if folder is None or str(folder) in {"", "."} else folder.expanduser()
        if found is not None and not found.is_absolute():
            raise ValueError("write an absolute path, such as /var/lib/headgate/workspace")
        return found
