"""Errors of encrypted content and its keys."""

from datetime import datetime

from headgate.foundation.errors import Conflict, NotFound


class ContentDestroyed(NotFound):
    """The key of the content was destroyed."""

    code = "content_destroyed"

    def __init__(self, destroyed_at: datetime | None) -> None:
        when = f" on {destroyed_at:%Y-%m-%d %H:%M} UTC" if destroyed_at is not None else ""
        super().__init__(
            f"The content cannot be read: the data key that encrypted it was destroyed{when}.",
            remedy=(
                "A database backup from before, together with the installation's key of that time, still contains it."
            ),
        )


class EncryptionRequired(Conflict):
    """The installation's settings require encryption."""

    code = "encryption_required"
    title = "Encryption is on for the installation"
    detail = "HEADGATE_STORAGE__ENCRYPT is set, so new content of every organisation is encrypted."
    remedy = "Unset it, restart every process, and try again."


class NothingToDestroy(Conflict):
    """The tenant has no data key."""

    code = "no_data_key"
    detail = "The organisation has no data key: none of its content is encrypted."
    remedy = "Delete the content that should become unreadable."
