"""The storage that the settings ask for."""

from headgate.features.files.local_storage import LocalStorage
from headgate.features.files.s3_storage import S3Storage
from headgate.features.files.storage import Storage
from headgate.foundation.settings import Settings


def open_storage(settings: Settings) -> Storage:
    """A folder of the data folder, or a bucket. Raises `StorageNotInstalled`."""
    if settings.storage.kind == "s3":
        return S3Storage(settings.storage)
    return LocalStorage(settings.data_dir / "files")
