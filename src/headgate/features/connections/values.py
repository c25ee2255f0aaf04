"""Checks the values of a connection against its kind."""

import re
from collections.abc import Callable, Iterator, Mapping

from pydantic import JsonValue, SecretStr

from headgate.features.connections.catalogue import KINDS
from headgate.features.connections.errors import BadConnection
from headgate.features.connections.kinds import FieldType, Kind, KindField, brokers_in
from headgate.features.connections.sealed import Secrets
from headgate.foundation.guarded_http.credential import host_of
from headgate.foundation.guarded_http.headers import check_headers
from headgate.foundation.guarded_http.targets import parse_target
from headgate.graph.connection_reference import EXPECTED_CONNECTION, is_connection_name
from headgate.graph.names import did_you_mean, listed

MAX_TEXT = 4096
"""Characters of one value that is no secret."""
MAX_SECRET = 16_384
MAX_HOSTS = 20
_BROKER = re.compile(r"(\*\.)?[a-z0-9_.-]{1,253}:\d{1,5}")


def kind_named(id_: str) -> Kind:
    """Return a kind. Raises `BadConnection` with the nearest one."""
    kind = KINDS.get(id_)
    if kind is None:
        raise BadConnection(
            f"There is no kind of connection '{id_[:40]}'{did_you_mean(id_, KINDS) or '.'}",
            remedy=f"Kinds: {listed(KINDS, most=30)}.",
        )
    return kind


def check_name(name: str) -> None:
    """Raise `BadConnection` for an invalid name."""
    if not is_connection_name(name):
        raise BadConnection(
            f"{name[:70]!r} is not a valid name of a connection.", remedy=f"It should be {EXPECTED_CONNECTION}."
        )


def checked_fields(kind: Kind, values: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the values of the fields that are no secret, with defaults. Raises `BadConnection`, `BadUrl`."""
    for name, value in values.items():
        checked_value(kind, name, value)
    checked = {
        field.name: _checked(kind, field, values.get(field.name)) for field in kind.fields if not field.is_secret
    }
    return {name: value for name, value in checked.items() if value is not None}


def checked_value(kind: Kind, name: str, value: JsonValue) -> JsonValue:
    """Return the value of one field that is no secret. Raises `BadConnection`, `BadUrl`."""
    field = kind.field(name)
    if field is None or field.is_secret:
        raise _unknown(kind, name, secret=field is not None)
    return _checked(kind, field, value)


def check_secrets(kind: Kind, secrets: Secrets) -> None:
    """Raise `BadConnection` for unknown, missing or unusable secrets."""
    for name, value in secrets.items():
        field = kind.field(name)
        if field is None or not field.is_secret:
            raise _unknown(kind, name, secret=False)
        if isinstance(value, SecretStr):
            _check_secret(kind, field, value.get_secret_value())
    for field in kind.fields:
        if field.is_secret and field.required and field.name not in secrets:
            raise BadConnection(f"{kind.label}: '{field.name}' is required.", remedy=f"Give {field.label.lower()}.")
    if kind.id == "sftp" and not secrets:
        raise BadConnection("SFTP: a password or a private key is required.", remedy="Give one of the two.")


def _checked(kind: Kind, field: KindField, value: JsonValue) -> JsonValue:
    value = field.default if value in (None, "", []) else value
    if value is None:
        if field.required:
            raise BadConnection(f"{kind.label}: '{field.name}' is required.", remedy=f"Give {field.label.lower()}.")
        return None
    problem = next(_problems(kind, field, value), None)
    if problem is not None:
        raise BadConnection(f"{kind.label}: '{field.name}' {problem}.", remedy=field.help or "Correct the value.")
    if field.type == "url":
        return parse_target(str(value)).url if field.name != "url" else _base(str(value))
    if field.type == "hosts":
        return [*sorted({host_of(str(host)) for host in value})] if isinstance(value, list) else None
    return value.strip() if isinstance(value, str) else value


def _base(url: str) -> str:
    target = parse_target(url)
    if "?" in target.path:
        raise BadConnection("The address of a connection has no query.", remedy="Remove the part after `?`.")
    return target.url


def _problems(kind: Kind, field: KindField, value: JsonValue) -> Iterator[str]:
    fault = _OF_TYPE.get(field.type, _text_problem)(field, value)
    if fault:
        yield fault
    elif field.name == "host" and (not value or any(character in str(value) for character in "/@:# ")):
        yield "must be a host name or an IPv4 address without scheme and port"
    elif field.name == "brokers" and not all(map(_is_broker, brokers_in(value))):
        yield "must be servers with ports, such as kafka-2.example.org:9092"
    elif field.name == "header" and kind.adds == "header":
        check_headers({str(value): ""})


def _is_broker(text: str) -> bool:
    return _BROKER.fullmatch(text) is not None and 0 < int(text.rpartition(":")[2]) < 65_536


def _number_problem(field: KindField, value: JsonValue) -> str:
    fits = isinstance(value, int) and not isinstance(value, bool) and field.least <= value <= 65_535
    return "" if fits else f"must be a number from {field.least} to 65535"


def _boolean_problem(_field: KindField, value: JsonValue) -> str:
    return "" if isinstance(value, bool) else "must be true or false"


def _option_problem(field: KindField, value: JsonValue) -> str:
    return "" if value in field.options else f"must be one of {listed(field.options)}"


def _hosts_problem(_field: KindField, value: JsonValue) -> str:
    fits = isinstance(value, list) and len(value) <= MAX_HOSTS and all(isinstance(host, str) for host in value)
    return "" if fits else f"must be a list of at most {MAX_HOSTS} hosts"


def _text_problem(_field: KindField, value: JsonValue) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        return f"must be text of at most {MAX_TEXT} characters"
    return "must not contain control characters" if any(ord(character) < 32 for character in value) else ""


_OF_TYPE: Mapping[FieldType, Callable[[KindField, JsonValue], str]] = {
    "number": _number_problem,
    "boolean": _boolean_problem,
    "select": _option_problem,
    "hosts": _hosts_problem,
}


def _check_secret(kind: Kind, field: KindField, value: str) -> None:
    if not value.strip():
        raise BadConnection(f"{kind.label}: '{field.name}' is empty.", remedy="Give a value, or omit it.")
    if len(value) > MAX_SECRET:
        raise BadConnection(f"{kind.label}: '{field.name}' is longer than {MAX_SECRET} characters.")
    allowed = "\n\r\t" if field.type == "multiline_secret" else ""
    if any(ord(character) < 32 and character not in allowed for character in value):
        raise BadConnection(
            f"{kind.label}: '{field.name}' contains a line break or control character.", remedy="Write it on one line."
        )


def _unknown(kind: Kind, name: str, *, secret: bool) -> BadConnection:
    if secret:
        return BadConnection(
            f"{kind.label}: '{name}' is a secret.", remedy="Give it among the secrets, where it is stored encrypted."
        )
    names = [field.name for field in kind.fields]
    return BadConnection(
        f"{kind.label} has no field '{name[:40]}'{did_you_mean(name, names) or '.'}", remedy=f"Fields: {listed(names)}."
    )
