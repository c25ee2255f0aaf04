"""Errors of the installation's keys."""

from collections.abc import Mapping

from headgate.foundation.errors import Conflict, Forbidden, NotFound


class KeyNotFound(NotFound):
    """There is no such key."""

    code = "key_not_found"

    def __init__(self, key_id: str) -> None:
        super().__init__(f"There is no key {key_id[:40]!r}.", remedy="List the keys: headgate keyring list")


class RotationRuns(Conflict):
    """A rotation of this purpose is in progress."""

    code = "rotation_runs"
    title = "Rotation is running"
    remedy = "Wait until every process can read it; `headgate keyring list` shows which cannot."
    detail = "A new {} key is already prepared but not yet current."


class KeyInUse(Conflict):
    """The key is still in use."""

    code = "key_in_use"

    def __init__(self, key_id: str, values: Mapping[str, int]) -> None:
        counted = ", ".join(f"{count} in {column}" for column, count in values.items())
        super().__init__(
            f"Key {key_id} still encrypts stored values: {counted}.",
            remedy="They are being re-encrypted. Retire this key when the list shows no values for it.",
            values=dict(values),
        )


class KeyNotOld(Conflict):
    """Only a replaced key can be retired or revoked."""

    code = "key_not_old"
    title = "Key is current"

    def __init__(self, key_id: str, state: str) -> None:
        remedy = "Rotate first, so that another key becomes current." if state in ("current", "prepared") else ""
        super().__init__(f"Key {key_id} is {state}.", remedy=remedy)


class NotInstallationAdmin(Forbidden):
    """The keys belong to the installation, not to an organisation."""

    code = "not_installation_admin"
    title = "Not an admin of the installation"
    detail = "The keys belong to the installation, which admins of its first organisation manage."
    remedy = "Ask one of them, or the operator of the server."
