"""Credentials of a Flowise server: by name and type only; a value goes there and nowhere else (DD-017)."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from headgate.agents.codev.domain import CredentialField, NeededCredential
from headgate.agents.codev.domains.flowise.answers import CredentialSchema
from headgate.agents.codev.domains.flowise.catalogue import Catalogue
from headgate.agents.codev.domains.flowise.client import FlowiseClient
from headgate.agents.codev.domains.flowise.quoting import one_line
from headgate.foundation.errors import Invalid
from headgate.graph.names import listed

MOST_TYPES = 20
_SECRET = frozenset({"password", "json", "code", "file"})


class BadCredential(Invalid):
    """A type, a field or a value that the credential does not have."""

    code = "flowise_bad_credential"
    title = "Not a credential"


async def missing(client: FlowiseClient, catalogue: Catalogue, types: Sequence[str]) -> list[NeededCredential]:
    """Return which of these the server lacks. Unknown types are skipped."""
    held = {credential.type for credential in await client.list_credentials()}
    known = {name.casefold(): schema for name, schema in (await catalogue.credential_types()).items()}
    schemas = [known.get(type_.strip().casefold()) for type_ in types[:MOST_TYPES]]
    lacking = {schema.type: schema for schema in schemas if schema is not None and schema.type not in held}
    return [_needed(schema, client.root) for schema in lacking.values()]


async def add(client: FlowiseClient, catalogue: Catalogue, type_: str, name: str, values: Mapping[str, str]) -> None:
    """Make a credential. Raises `BadCredential`, without any value in it."""
    schema = (await catalogue.credential_types()).get(type_)
    if schema is None:
        raise BadCredential(
            f"Flowise has no type of credential '{one_line(type_, 80)}'.", remedy="Use a type as the session names it."
        )
    names = [field["name"] for field in schema.fields]
    unknown = sorted(values.keys() - set(names))
    if unknown:
        raise BadCredential(
            f"A credential '{schema.type}' has no field '{one_line(unknown[0], 80)}'.",
            remedy=f"It has: {listed(names)}.",
        )
    needed = [field.name for field in _fields(schema) if not field.optional and not values.get(field.name, "").strip()]
    if needed:
        raise BadCredential(f"'{needed[0]}' of the credential '{schema.type}' is required.", remedy="Give its value.")
    usual: dict[str, JsonValue] = {field["name"]: field["default"] for field in schema.fields if field.get("default")}
    given: dict[str, JsonValue] = {key: value for key, value in values.items() if value.strip()}
    await client.create_credential(one_line(name, 200) or schema.type, schema.type, usual | given)


def _needed(schema: CredentialSchema, root: str) -> NeededCredential:
    where = f"In Flowise at {root}/credentials, as '{schema.label}'."
    return NeededCredential(schema.type, schema.label, tuple(_fields(schema)), where)


def _fields(schema: CredentialSchema) -> list[CredentialField]:
    return [
        CredentialField(
            name=field["name"],
            label=one_line(field.get("label"), 100) or field["name"],
            secret=field.get("type") in _SECRET,
            optional=field.get("optional") is True or bool(field.get("default")),
        )
        for field in schema.fields
    ]
