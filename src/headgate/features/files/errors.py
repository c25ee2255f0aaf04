"""What can go wrong with files.

NotFound
└── FileNotFound      no such file for the asker
TooLarge
├── FileTooLarge      over the limit, found while it came
└── NoRoomForFile     over what the organisation, the space or the visitor may store
Invalid
├── BadUpload         the request holds no file
└── StorageNotInstalled   the settings ask for a storage whose package is an extra
Unavailable
├── StorageFull       no space; nothing was kept
├── StorageFailed     the disk or the bucket refused
└── FileDamaged       the content is gone or is not what was stored
"""

from headgate.foundation.errors import Invalid, NotFound, TooLarge, Unavailable


class FileNotFound(NotFound):
    """The tenant has no such file."""

    code = "file_not_found"
    title = "File not found"

    def __init__(self, file_id: str) -> None:
        super().__init__(
            f"There is no file '{file_id[:64]}'.", remedy="It may have been deleted. A run says the ids of its files."
        )


class FileTooLarge(TooLarge):
    """The file is over the limit."""

    code = "file_too_large"
    title = "File too large"


class NoRoomForFile(TooLarge):
    """The organisation, the space or the visitor stores as many bytes as they may. Carries `limit` and `scope`."""

    code = "no_room_for_file"
    title = "No room for the file"


class BadUpload(Invalid):
    """The request holds no file."""

    code = "bad_upload"
    title = "No file in the request"


class StorageNotInstalled(Invalid):
    """The settings ask for a storage whose package is an extra that is not installed."""

    code = "storage_not_installed"
    title = "Storage not installed"

    def __init__(self) -> None:
        super().__init__(
            "The settings ask for files in S3, which needs a package that is not installed.",
            remedy="Install it with: pip install 'headgate[s3]'",
            extra_name="s3",
        )


class StorageFull(Unavailable):
    """There is no space left; nothing was kept."""

    code = "storage_full"
    title = "Storage full"


class StorageFailed(Unavailable):
    """The storage refused."""

    code = "storage_failed"
    title = "Storage failed"


class FileDamaged(Unavailable):
    """The content is gone, or is not what was stored."""

    code = "file_damaged"
    title = "File damaged"
