"""Converts users between SCIM and Headgate."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from headgate.features.accounts.directory.errors import ScimInvalid
from headgate.features.accounts.directory.tables import DirectoryUser
from headgate.features.accounts.tables import User
from headgate.features.accounts.users.schemas import Email, PersonName

SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User"
MOST_USER_NAME = 254
MOST_EXTERNAL_ID = 255
_NAME: TypeAdapter[str] = TypeAdapter(PersonName)
_EMAIL: TypeAdapter[str] = TypeAdapter(Email)


@dataclass(frozen=True, slots=True)
class UserData:
    """A user's data from the directory."""

    user_name: str
    email: str
    name: str
    """Display name in Headgate."""
    formatted: str | None
    given_name: str | None
    family_name: str | None
    external_id: str | None
    active: bool | None
    """None: not specified."""


def user_data_of(document: Mapping[str, Any]) -> UserData:
    """Return the user of a document with lower-case attribute names; attributes that are not stored are ignored.

    The e-mail address is the primary one of `emails`, else the one for work, else the first, else the `userName`.
    Raises `ScimInvalid`.
    """
    user_name = _checked(_NAME, "userName", document.get("username"), MOST_USER_NAME)
    if user_name is None:
        raise ScimInvalid("invalidValue", "A user needs a userName.")
    parts = document.get("name") or {}
    if not isinstance(parts, dict):
        raise ScimInvalid("invalidValue", "'name' must be an object with givenName and familyName.")
    formatted, given_name, family = (
        _checked(_NAME, f"name.{part}", parts.get(part.lower())) for part in ("formatted", "givenName", "familyName")
    )
    display_name = _checked(_NAME, "displayName", document.get("displayname"))
    composed = " ".join(part for part in (given_name, family) if part)[:200]
    return UserData(
        user_name=user_name,
        email=_email(document.get("emails"), user_name),
        name=display_name or formatted or composed or user_name.partition("@")[0][:200],
        formatted=formatted,
        given_name=given_name,
        family_name=family,
        external_id=external_id_of(document),
        active=_active(document.get("active")),
    )


def document_of(user: User, entry: DirectoryUser) -> dict[str, Any]:
    """Return the document that a PATCH changes, without the address when it is the user name, which it then follows."""
    document: dict[str, Any] = {
        "username": entry.user_name,
        "externalid": entry.external_id,
        "active": user.active,
        "displayname": user.name,
        "name": {"formatted": entry.formatted, "givenname": entry.given_name, "familyname": entry.family_name},
    }
    if user.email != entry.user_name_key:
        document["emails"] = [{"value": user.email, "type": "work", "primary": True}]
    return document


def resource_of(user: User, entry: DirectoryUser, groups: Sequence[tuple[str, str]], root: str) -> dict[str, Any]:
    """Return the user as a SCIM resource."""
    location = f"{root}/Users/{user.id}"
    return _stored(user, entry) | {
        "groups": [{"value": id_, "display": name, "$ref": f"{root}/Groups/{id_}"} for id_, name in groups],
        "meta": meta("User", entry.created_at, entry.updated_at, location, version_of(user, entry)),
    }


def version_of(user: User, entry: DirectoryUser) -> str:
    """Return the ETag of everything that the directory can change, independent of who changed it."""
    return f'W/"{hashlib.sha256(orjson.dumps(_stored(user, entry))).hexdigest()[:16]}"'


def meta(kind: str, created: datetime, updated: datetime, location: str, version: str) -> dict[str, str]:
    """Return the metadata of a resource."""
    return {
        "resourceType": kind,
        "created": _moment(created),
        "lastModified": _moment(updated),
        "location": location,
        "version": version,
    }


def external_id_of(document: Mapping[str, Any]) -> str | None:
    """Return the id at the identity provider. Raises `ScimInvalid`."""
    return _checked(_NAME, "externalId", document.get("externalid"), MOST_EXTERNAL_ID)


def name_of_group(document: Mapping[str, Any]) -> str:
    """Return the name of a group. Raises `ScimInvalid`."""
    name = _checked(_NAME, "displayName", document.get("displayname"))
    if name is None:
        raise ScimInvalid("invalidValue", "A group needs a displayName.")
    return name


def _stored(user: User, entry: DirectoryUser) -> dict[str, Any]:
    name = {"formatted": entry.formatted, "givenName": entry.given_name, "familyName": entry.family_name}
    values = {
        "schemas": [SCHEMA],
        "id": user.id,
        "externalId": entry.external_id,
        "userName": entry.user_name,
        "name": {key: value for key, value in name.items() if value is not None},
        "displayName": user.name,
        "active": user.active,
        "emails": [{"value": user.email, "type": "work", "primary": True}],
    }
    return {key: value for key, value in values.items() if value not in (None, {})}


def _checked(kind: TypeAdapter[str], name: str, value: object, limit: int = 200) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, str) and len(value) > limit:
        raise ScimInvalid("invalidValue", f"'{name}' is longer than {limit} characters.")
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        reason = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise ScimInvalid("invalidValue", f"Invalid '{name}': {reason}.") from None


def _email(emails: object, user_name: str) -> str:
    if emails in (None, [], ""):
        return _address("userName", user_name, "Send the e-mail address as userName, or in emails.")
    entries = [entry for entry in emails if isinstance(entry, dict)] if isinstance(emails, list) else []
    if not entries:
        raise ScimInvalid("invalidValue", "'emails' must be a list of objects with a value.")
    primary = [entry for entry in entries if _is_true(entry.get("primary"))]
    work = [entry for entry in entries if str(entry.get("type")).lower() == "work"]
    return _address("emails.value", [*primary, *work, *entries][0].get("value"), "")


def _address(name: str, value: object, remedy: str) -> str:
    try:
        return _EMAIL.validate_python(value)
    except ValidationError:
        raise ScimInvalid("invalidValue", f"'{name}' is not an e-mail address.", remedy=remedy) from None


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _active(value: object) -> bool | None:
    """Parse the active state, which Entra ID sends as text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    raise ScimInvalid("invalidValue", "'active' must be true or false.")


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
