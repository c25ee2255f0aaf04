"""A user between SCIM's form and ours."""

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
class Wanted:
    """A user as the directory wants them."""

    user_name: str
    email: str
    name: str
    """What they are called here."""
    formatted: str | None
    given_name: str | None
    family_name: str | None
    external_id: str | None
    active: bool | None
    """None: not said."""


def wanted_of(document: Mapping[str, Any]) -> Wanted:
    """The user of a document with attribute names in lower case; what is not stored here is ignored.

    The e-mail address is the primary one of `emails`, else the one for work, else the first, else the `userName`.
    Raises `ScimInvalid`.
    """
    user_name = _checked(_NAME, "userName", document.get("username"), MOST_USER_NAME)
    if user_name is None:
        raise ScimInvalid("invalidValue", "A user needs a userName.")
    parts = document.get("name") or {}
    if not isinstance(parts, dict):
        raise ScimInvalid("invalidValue", "'name' is an object with givenName and familyName.")
    formatted, given, family = (
        _checked(_NAME, f"name.{part}", parts.get(part.lower())) for part in ("formatted", "givenName", "familyName")
    )
    shown = _checked(_NAME, "displayName", document.get("displayname"))
    composed = " ".join(one for one in (given, family) if one)[:200]
    return Wanted(
        user_name=user_name,
        email=_email(document.get("emails"), user_name),
        name=shown or formatted or composed or user_name.partition("@")[0][:200],
        formatted=formatted,
        given_name=given,
        family_name=family,
        external_id=external_id_of(document),
        active=_active(document.get("active")),
    )


def document_of(user: User, entry: DirectoryUser) -> dict[str, Any]:
    """What a PATCH changes. The address is not in it where it is the user name: it then follows that."""
    found: dict[str, Any] = {
        "username": entry.user_name,
        "externalid": entry.external_id,
        "active": user.active,
        "displayname": user.name,
        "name": {"formatted": entry.formatted, "givenname": entry.given_name, "familyname": entry.family_name},
    }
    if user.email != entry.user_name_key:
        found["emails"] = [{"value": user.email, "type": "work", "primary": True}]
    return found


def resource_of(user: User, entry: DirectoryUser, groups: Sequence[tuple[str, str]], root: str) -> dict[str, Any]:
    """The user as the directory reads them."""
    location = f"{root}/Users/{user.id}"
    return _stored(user, entry) | {
        "groups": [{"value": id_, "display": name, "$ref": f"{root}/Groups/{id_}"} for id_, name in groups],
        "meta": meta("User", entry.created_at, entry.updated_at, location, version_of(user, entry)),
    }


def version_of(user: User, entry: DirectoryUser) -> str:
    """The ETag: of everything the directory can change, whoever changed it."""
    return f'W/"{hashlib.sha256(orjson.dumps(_stored(user, entry))).hexdigest()[:16]}"'


def meta(kind: str, created: datetime, updated: datetime, location: str, version: str) -> dict[str, str]:
    """What a resource says of itself."""
    return {
        "resourceType": kind,
        "created": _moment(created),
        "lastModified": _moment(updated),
        "location": location,
        "version": version,
    }


def external_id_of(document: Mapping[str, Any]) -> str | None:
    """The id at the identity provider. Raises `ScimInvalid`."""
    return _checked(_NAME, "externalId", document.get("externalid"), MOST_EXTERNAL_ID)


def name_of_group(document: Mapping[str, Any]) -> str:
    """What a group is called. Raises `ScimInvalid`."""
    found = _checked(_NAME, "displayName", document.get("displayname"))
    if found is None:
        raise ScimInvalid("invalidValue", "A group needs a displayName.")
    return found


def _stored(user: User, entry: DirectoryUser) -> dict[str, Any]:
    name = {"formatted": entry.formatted, "givenName": entry.given_name, "familyName": entry.family_name}
    found = {
        "schemas": [SCHEMA],
        "id": user.id,
        "externalId": entry.external_id,
        "userName": entry.user_name,
        "name": {key: value for key, value in name.items() if value is not None},
        "displayName": user.name,
        "active": user.active,
        "emails": [{"value": user.email, "type": "work", "primary": True}],
    }
    return {key: value for key, value in found.items() if value not in (None, {})}


def _checked(kind: TypeAdapter[str], name: str, value: object, most: int = 200) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, str) and len(value) > most:
        raise ScimInvalid("invalidValue", f"'{name}' is longer than {most} characters.")
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        why = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise ScimInvalid("invalidValue", f"'{name}' cannot be used: {why}.") from None


def _email(emails: object, user_name: str) -> str:
    if emails in (None, [], ""):
        return _address("userName", user_name, "Send the e-mail address as userName, or in emails.")
    found = [one for one in emails if isinstance(one, dict)] if isinstance(emails, list) else []
    if not found:
        raise ScimInvalid("invalidValue", "'emails' is a list of objects with a value.")
    primary = [one for one in found if _is_true(one.get("primary"))]
    work = [one for one in found if str(one.get("type")).lower() == "work"]
    return _address("emails.value", [*primary, *work, *found][0].get("value"), "")


def _address(name: str, value: object, remedy: str) -> str:
    try:
        return _EMAIL.validate_python(value)
    except ValidationError:
        raise ScimInvalid("invalidValue", f"'{name}' is no e-mail address.", remedy=remedy) from None


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _active(value: object) -> bool | None:
    """Entra ID sends it as a text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    raise ScimInvalid("invalidValue", "'active' is true or false.")


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
