"""How an API wants requests to be authenticated, as a kind of connections with values of its fields."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import JsonValue

from headgate.components.readers.api.description import Authentication, Unusable, plain
from headgate.components.readers.api.references import References

_ORDER: Final = ("bearer", "api_key_header", "api_key_query", "basic", "oauth2_code", "oauth2_client")
"""Kinds by how little a user must know to fill their fields."""
_FLOWS: Final = (("authorizationCode", "oauth2_code"), ("clientCredentials", "oauth2_client"))


def find_authentication(references: References, document: Mapping[str, Any]) -> Authentication:
    """Return the simplest of the schemes that the document declares; `public_api` when it declares none."""
    components = document.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, Mapping) else None
    schemes_by_kind: dict[str, Authentication] = {}
    for scheme in (schemes if isinstance(schemes, Mapping) else {}).values():
        try:
            known = _authentication(references.resolved(scheme))
        except Unusable:
            continue
        if known is not None:
            schemes_by_kind.setdefault(known.kind, known)
    return next((schemes_by_kind[kind] for kind in _ORDER if kind in schemes_by_kind), Authentication())


def _authentication(scheme: Any) -> Authentication | None:  # noqa: ANN401 - any JSON value
    if not isinstance(scheme, Mapping):
        return None
    kind, name = scheme.get("type"), plain(scheme.get("name"), 100)
    if kind == "http":
        return {"basic": Authentication("basic"), "bearer": Authentication("bearer")}.get(
            str(scheme.get("scheme")).lower()
        )
    if kind == "apiKey" and name:
        return _api_key(name, scheme.get("in"))
    if kind == "oauth2" and isinstance(scheme.get("flows"), Mapping):
        return next((_oauth(id_, scheme["flows"][flow]) for flow, id_ in _FLOWS if flow in scheme["flows"]), None)
    return None


def _api_key(name: str, location: object) -> Authentication | None:
    if location == "header":
        return Authentication("bearer") if name.lower() == "authorization" else _in("api_key_header", header=name)
    return _in("api_key_query", parameter=name) if location == "query" else None


def _in(kind: str, **fields: JsonValue) -> Authentication:
    return Authentication(kind, fields)


def _oauth(kind: str, flow: Any) -> Authentication | None:  # noqa: ANN401
    if not isinstance(flow, Mapping):
        return None
    fields: dict[str, JsonValue] = {}
    for name, source in (("authorization_url", "authorizationUrl"), ("token_url", "tokenUrl")):
        url = flow.get(source)
        if isinstance(url, str) and urlsplit(url).scheme == "https" and (name == "token_url" or kind == "oauth2_code"):
            fields[name] = plain(url, 1_000)
    return Authentication(kind, fields)
