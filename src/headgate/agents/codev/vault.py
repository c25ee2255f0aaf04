"""Keys that the work needs: variables, by name. A value comes in once and is never shown again.

A type is the name of a variable (`OPENAI_API_KEY`) or the id of a model provider (`openai`), which stands for every
variable that the provider needs.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from headgate.agents.codev.domain import CredentialField, NeededCredential
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.errors import SpaceNotFound
from headgate.features.models import service as models
from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import KeySource
from headgate.features.models.providers import LOCAL, PROVIDER_VARIABLES, PROVIDERS
from headgate.features.models.service import ProviderStatus
from headgate.features.secrets import service as variables
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid

MOST_TYPES = 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,127}", re.ASCII)
_SETTINGS = "An owner of the space sets it in Settings, under Variables, or with `headgate variables set {name}`."


@dataclass(frozen=True, slots=True)
class Vault:
    """The variables of a space, as one user reads and sets them."""

    database: Database
    box: SecretBox
    principal: Principal
    space_id: str
    keys: KeySource
    local: LocalModels | None = None


class UnknownCredential(Invalid):
    """No variable can be called like that, and no provider is."""

    code = "codev_unknown_credential"
    title = "Unknown credential"


class CredentialIncomplete(Invalid):
    """A value is missing, or one was given that does not belong to the credential."""

    code = "codev_credential_incomplete"
    title = "Credential incomplete"


async def missing(vault: Vault, types: Sequence[str]) -> list[NeededCredential]:
    """Return which of these the tenant lacks. Invalid names are skipped, since a model wrote them."""
    lacking: dict[str, NeededCredential] = {}
    for type_ in list(dict.fromkeys(type_.strip() for type_ in types))[:MOST_TYPES]:
        provider = _provider(type_)
        needed = await (_of_provider(vault, provider) if provider else _of_variable(vault, type_))
        if needed is not None:
            lacking[needed.type] = needed
    asked = {
        field.name for credential in lacking.values() if credential.type in PROVIDERS for field in credential.fields
    }
    return [credential for credential in lacking.values() if credential.type not in asked]


async def add(vault: Vault, type_: str, values: Mapping[str, str]) -> None:
    """Set the variables of a credential, encrypted and audited. One that is kept for a server stays kept for it.

    Raises `PermissionMissing` naming who may, `UnknownCredential`, `CredentialIncomplete`, `BadVariable`.
    """
    vault.principal.require_in(vault.space_id, Permission.SPACE_VARIABLES_MANAGE, SpaceNotFound(vault.space_id))
    fields = await _fields_of(vault, type_.strip())
    known = {field.name: field for field in fields}
    given = {name: value.strip() for name, value in values.items() if value.strip()}
    strange = sorted(given.keys() - known.keys())
    lacking = [field.name for field in fields if not field.optional and field.name not in given]
    if strange or lacking or not given:
        problem = f"does not accept {', '.join(strange)}" if strange else f"needs {', '.join(lacking or known)}"
        raise CredentialIncomplete(
            f"The credential '{type_[:100]}' {problem}."[:500], remedy="Give a value for each of its fields."
        )
    async with vault.database.writing() as session:
        rows = await variables.list_variables(session, vault.principal, space_id=vault.space_id)
        hosts_of = {row.name: row.hosts or () for row in reversed(rows)}  # the space's own are listed first
        for name, value in given.items():
            await variables.set_variable(
                session,
                vault.principal,
                vault.box,
                name=name,
                value=SecretStr(value),
                secret=known[name].secret,
                hosts=hosts_of.get(name, ()),
                space_id=vault.space_id,
            )


async def _fields_of(vault: Vault, type_: str) -> tuple[CredentialField, ...]:
    provider = _provider(type_)
    if provider:
        return _fields(await _status(vault, provider))
    if _NAME.fullmatch(type_) is None or type_.upper().startswith(variables.RESERVED_PREFIX):
        raise UnknownCredential(
            f"There is no credential '{type_[:100]}'.",
            remedy="Give the name of a variable, such as CRM_TOKEN, or the id of a model provider, such as openai.",
        )
    return (_field(type_),)


async def _of_provider(vault: Vault, provider: str) -> NeededCredential | None:
    status = await _status(vault, provider)
    if status.configured:
        return None
    fields = _fields(status) if status.installed else ()
    return NeededCredential(provider, status.label, fields, f"{status.reason} {status.remedy}".strip())


async def _of_variable(vault: Vault, name: str) -> NeededCredential | None:
    if _NAME.fullmatch(name) is None or name.upper().startswith(variables.RESERVED_PREFIX):
        return None
    if await vault.keys.available([name]):
        return None
    provider = PROVIDERS.get(PROVIDER_VARIABLES.get(name, ""))
    label = f"{name} ({provider.label})" if provider is not None else name
    return NeededCredential(name, label, (_field(name),), _SETTINGS.format(name=name))


async def _status(vault: Vault, provider: str) -> ProviderStatus:
    return await models.status_of(PROVIDERS[provider], vault.keys, vault.local)


def _fields(status: ProviderStatus) -> tuple[CredentialField, ...]:
    """Return the fields that a provider needs, the required ones first."""
    if status.id == LOCAL:
        return ()
    fields = [
        CredentialField(setting.variable, setting.variable, secret=setting.kind == "key", optional=not setting.required)
        for setting in status.settings
        if setting.required or setting.kind == "key"
    ]
    return tuple(sorted(fields, key=lambda field: field.optional))


def _field(name: str) -> CredentialField:
    return CredentialField(name, name)


def _provider(type_: str) -> str:
    """The id of the provider that is meant, in any case; empty when none is."""
    provider = type_.strip().lower().replace("-", "_")
    return provider if provider in PROVIDERS else ""
