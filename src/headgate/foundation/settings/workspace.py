"""Settings of users' workspaces."""

from pathlib import Path

from pydantic import BaseModel, Field, field_validator

MEBIBYTE = 1024 * 1024


class WorkspaceSettings(BaseModel, defer_build=True):
    """Files that people's agents keep. Keep the folder, with the file `.fs_pepper` in it, as one piece in backups."""

    base_dir: Path | None = Field(
        default=None,
        description=(
            "Folder of all workspaces, an absolute path; all servers and workers must share it. "
            "Empty: `workspace` in the data folder."
        ),
    )
    max_bytes: int = Field(default=256 * MEBIBYTE, ge=1024, description="Maximum total size of one user's files.")
    max_files: int = Field(default=2_000, ge=1, le=100_000, description="Maximum number of one user's files.")

    @field_validator("base_dir")
    @classmethod
    def _is_absolute(cls, folder: Path | None) -> Path | None:
        path = None if folder is None or str(folder) in {"", "."} else folder.expanduser()
        if path is not None and not path.is_absolute():
            raise ValueError("write an absolute path, such as /var/lib/headgate/workspace")
        return path
