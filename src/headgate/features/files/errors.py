"""Errors of files.

NotFound
└── FileNotFound      no such file for the caller
TooLarge
├── FileTooLarge      over the limit, detected during the upload
└── NoRoomForFile     over the storage quota of the organisation, the space or the visitor
Invalid
├── BadUpload         the request contains no file
└── StorageNotInstalled   the configured storage needs an extra
Unavailable
├── StorageFull       no space left; nothing was stored
├── StorageFailed     the disk or the bucket failed
└── FileDamaged       the content is missing or was changed
"""

from headgate.foundation.errors import Invalid, NotFound, TooLarge, Unavailable


class FileNotFound(NotFound):
    """The tenant has no such file."""

    code = "file_not_found"

    def __init__(self, file_id: str) -> None:
        super().__init__(
            f"There is no file '{file_id[:64]}'.", remedy="It may have been deleted. A run lists the ids of its files."
        )


class FileTooLarge(TooLarge):
    """The file exceeds the limit."""

    code = "file_too_large"


class NoRoomForFile(TooLarge):
    """The storage quota of the organisation, the space or the visitor is used up. Carries `limit` and `scope`."""

    code = "no_room_for_file"
    title = "Storage full"


class BadUpload(Invalid):
    """The request contains no file."""

    code = "bad_upload"
    title = "No file in the request"


class StorageNotInstalled(Invalid):
    """The configured storage needs an extra that is not installed."""

    code = "storage_not_installed"
    remedy = "Install it with: pip install 'headgate[s3]'"

    def __init__(self) -> None:
        super().__init__(
            "The settings store files in S3, which requires a package that is not installed.", extra_name="s3"
        )


class StorageFull(Unavailable):
    """No space is left; nothing was stored."""

    code = "storage_full"


class StorageFailed(Unavailable):
    """The storage failed."""

    code = "storage_failed"


class FileDamaged(Unavailable):
    """The content is missing or was changed."""

    code = "file_damaged"
