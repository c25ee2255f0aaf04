"""SCIM discovery documents for identity providers (RFC 7643, 5 to 7)."""

from collections.abc import Sequence
from typing import Any

from headgate.features.accounts.directory.scim import user_document
from headgate.features.accounts.directory.scim.messages import MOST_RESULTS

GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group"
_CORE = "urn:ietf:params:scim:schemas:core:2.0"


def provider_config(root: str) -> dict[str, Any]:
    """Return the supported and unsupported features."""
    return {
        "schemas": [f"{_CORE}:ServiceProviderConfig"],
        "patch": {"supported": True},
        "bulk": {"supported": False, "maxOperations": 0, "maxPayloadSize": 0},
        "filter": {"supported": True, "maxResults": MOST_RESULTS},
        "changePassword": {"supported": False},
        "sort": {"supported": True},
        "etag": {"supported": True},
        "authenticationSchemes": [
            {
                "type": "oauthbearertoken",
                "name": "Bearer token",
                "description": "The token that an admin created in Settings > Directory.",
                "specUri": "https://www.rfc-editor.org/info/rfc6750",
                "primary": True,
            }
        ],
        "meta": {"resourceType": "ServiceProviderConfig", "location": f"{root}/ServiceProviderConfig"},
    }


def resource_types(root: str) -> list[dict[str, Any]]:
    """Return the resource types."""
    return [
        {
            "schemas": [f"{_CORE}:ResourceType"],
            "id": name,
            "name": name,
            "endpoint": f"/{name}s",
            "description": f"{name}s of the organisation that the directory manages.",
            "schema": schema,
            "schemaExtensions": [],
            "meta": {"resourceType": "ResourceType", "location": f"{root}/ResourceTypes/{name}"},
        }
        for name, schema in (("User", user_document.SCHEMA), ("Group", GROUP_SCHEMA))
    ]


def schemas(root: str) -> list[dict[str, Any]]:
    """Return the stored attributes of each resource type."""
    return [
        {
            "schemas": [f"{_CORE}:Schema"],
            "id": schema,
            "name": name,
            "description": f"{name} of the organisation.",
            "attributes": attributes,
            "meta": {"resourceType": "Schema", "location": f"{root}/Schemas/{schema}"},
        }
        for name, schema, attributes in (
            ("User", user_document.SCHEMA, _of_user()),
            ("Group", GROUP_SCHEMA, _of_group()),
        )
    ]


def _of_user() -> list[dict[str, Any]]:
    name = [_attribute("formatted"), _attribute("familyName"), _attribute("givenName")]
    email = [_attribute("value"), _attribute("type"), _attribute("primary", "boolean")]
    return [
        _attribute("userName", required=True, uniqueness="server"),
        _attribute("name", "complex", sub=name),
        _attribute("displayName"),
        _attribute("active", "boolean"),
        _attribute("externalId", exact=True),
        _attribute("emails", "complex", several=True, sub=email),
        _attribute(
            "groups",
            "complex",
            several=True,
            read_only=True,
            sub=[_attribute("value", exact=True, read_only=True), *_reference()],
        ),
    ]


def _of_group() -> list[dict[str, Any]]:
    member = [_attribute("value", exact=True), *_reference(), _attribute("type", read_only=True)]
    return [
        _attribute("displayName", required=True, uniqueness="server"),
        _attribute("externalId", exact=True),
        _attribute("members", "complex", several=True, sub=member),
    ]


def _reference() -> list[dict[str, Any]]:
    return [
        _attribute("$ref", "reference", read_only=True, referenceTypes=["User", "Group"]),
        _attribute("display", read_only=True),
    ]


def _attribute(
    name: str,
    kind: str = "string",
    *,
    several: bool = False,
    required: bool = False,
    read_only: bool = False,
    exact: bool = False,
    uniqueness: str = "none",
    sub: Sequence[dict[str, Any]] = (),
    **more: object,
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": name,
        "type": kind,
        "multiValued": several,
        "required": required,
        "caseExact": exact,
        "mutability": "readOnly" if read_only else "readWrite",
        "returned": "default",
        "uniqueness": uniqueness,
        **more,
    }
    return document | ({"subAttributes": list(sub)} if sub else {})
