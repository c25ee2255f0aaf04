"""Settings that cannot be read, told to whoever set them. What was set is never repeated: it may be a secret."""

from pydantic import ValidationError
from pydantic_settings import SettingsError

from headgate.foundation.errors import Invalid
from headgate.foundation.settings import Settings


class SettingsInvalid(Invalid):
    """A setting of the environment or of `.env` has a value that it cannot have."""

    code = "settings_invalid"
    title = "Invalid settings"


def settings_fault(error: Exception) -> SettingsInvalid | None:
    """What is wrong with the settings; None when the error is about something else."""
    if isinstance(error, ValidationError) and error.title == Settings.__name__:
        faults = [_told(one["loc"], one["msg"]) for one in error.errors(include_input=False, include_url=False)]
        return SettingsInvalid(
            " ".join(faults), remedy="Correct it in the environment or in .env; see docs/settings.md."
        )
    if isinstance(error, SettingsError):
        return SettingsInvalid(
            f"The settings cannot be read: {error}.",
            remedy="Lists and objects are JSON in quotes, for example '[\"10.20.0.0/24\"]'; see docs/settings.md.",
        )
    return None


def _told(place: tuple[str | int, ...], message: str) -> str:
    name = "HEADGATE_" + "__".join(part.upper() for part in place if isinstance(part, str))
    return f"{name}: {message.removeprefix('Value error, ')}."
