"""Installation errors for operators: unreadable settings, unusable files.

Settings values are never shown: they may be secret.
"""

import errno
from json import JSONDecodeError

from pydantic import ValidationError
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource, SettingsError

from headgate.foundation.errors import HeadgateError, Invalid, Unavailable
from headgate.foundation.settings import Settings

_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EIO}
"""What a disk answers that is full or failing; a stream names no file."""


class SettingsInvalid(Invalid):
    """A setting of the environment or of `.env` has a value that it cannot have."""

    code = "settings_invalid"
    title = "Invalid settings"


class FileUnusable(Unavailable):
    """The system refused a file or folder: no space, no permission, or another type of file exists there."""

    code = "file_unusable"
    title = "File cannot be used"


def fault_of(error: Exception) -> HeadgateError | None:
    """Return the error of the settings or the data folder; None when the error is a bug."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return FileUnusable(
            f"{error.filename} cannot be used: {error.strerror}.",
            remedy="Correct that path or HEADGATE_DATA_DIR; run `headgate doctor` for more checks.",
        )
    if isinstance(error, OSError) and error.errno in _DISK:
        return FileUnusable(
            f"Something could not be written: {error.strerror}.",
            remedy="Free disk space for the data folder or the output of the command.",
        )
    return _settings_fault(error)


def _settings_fault(error: Exception) -> SettingsInvalid | None:
    if isinstance(error, ValidationError) and error.title == Settings.__name__:
        faults = [
            _describe_setting_error(error["loc"], error["msg"])
            for error in error.errors(include_input=False, include_url=False)
        ]
        return SettingsInvalid(
            " ".join(faults), remedy="Correct it in the environment or in .env; see docs/reference/settings.md."
        )
    if isinstance(error, SettingsError):
        name = _unreadable(error)
        return SettingsInvalid(
            f"{name}: the value is not JSON." if name else f"The settings cannot be read: {error}.",
            remedy="Lists and objects are JSON in quotes, as in '[\"10.20.0.0/24\"]'; see docs/reference/settings.md.",
        )
    return None


def _unreadable(error: SettingsError) -> str | None:
    """The variable whose value could not be parsed; the library names only the group that it belongs to."""
    cause = error.__cause__
    if not isinstance(cause, JSONDecodeError):
        return None
    variables = {**DotEnvSettingsSource(Settings).env_vars, **EnvSettingsSource(Settings).env_vars}
    names = (name.upper() for name, value in variables.items() if value == cause.doc)
    return next((name for name in names if name.startswith("HEADGATE_")), None)


def _describe_setting_error(place: tuple[str | int, ...], message: str) -> str:
    # Of a union pydantic adds which alternative it tried, which is no part of the variable's name.
    name = "HEADGATE_" + "__".join(part.upper() for part in place if isinstance(part, str) and part.isidentifier())
    return f"{name}: {message.removeprefix('Value error, ')}."
