"""Creates the configured storage."""

from typing import TYPE_CHECKING

from headgate.features.files.local_storage import LocalStorage
from headgate.features.files.sealed_storage import Keys, SealedStorage
from headgate.features.files.storage import Storage
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import Settings

if TYPE_CHECKING:
    from headgate.features.files import s3_storage
else:
    s3_storage = lazy_module("headgate.features.files.s3_storage")


def open_storage(settings: Settings, keys: Keys) -> Storage:
    """Return a folder or bucket, with encryption when enabled. Raises `StorageNotInstalled`."""
    return SealedStorage(open_contents(settings), keys)


def open_contents(settings: Settings) -> Storage:
    """Return the folder or bucket itself."""
    if settings.storage.kind == "s3":
        return s3_storage.S3Storage(settings.storage, settings.outgoing)
    return LocalStorage(settings.data_dir / "files")
