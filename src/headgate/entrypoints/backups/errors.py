"""Errors of backups."""

from headgate.foundation.errors import Conflict, Invalid, Unavailable


class BackupInvalid(Invalid):
    """The file is not a complete, unchanged backup that this version can restore."""

    code = "backup_invalid"
    title = "Invalid backup"


class PassphraseWrong(Invalid):
    """The backup is encrypted, and the passphrase does not decrypt it."""

    code = "passphrase_wrong"
    title = "Wrong passphrase"


class BackupFailed(Unavailable):
    """The backup could not be made. Nothing was left behind."""

    code = "backup_failed"


class RestoreRefused(Conflict):
    """The restore was refused. Nothing was changed."""

    code = "restore_refused"
