"""Converts Swagger 2.0 into OpenAPI 3.0."""

from collections.abc import Mapping
from typing import Any

from headgate.components.readers.api.description import METHODS, Unusable
from headgate.components.readers.api.parts import FORM
from headgate.components.readers.api.references import References

_JSON = ["application/json"]
_COLLECTIONS = {"ssv": "spaceDelimited", "pipes": "pipeDelimited"}
_NO_SCHEMA = frozenset({"name", "in", "required", "collectionFormat", "allowEmptyValue"})
_FLOWS = {"accessCode": "authorizationCode", "application": "clientCredentials"}


def openapi_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI document. The places that references lead to stay where they are."""
    converter = _Converter(document, References(document))
    paths = document.get("paths")
    return {
        **document,
        "openapi": "3.0.0",
        "servers": _servers(document),
        "components": {"securitySchemes": _schemes(document.get("securityDefinitions"))},
        "paths": {
            place: converter.path(item) if isinstance(item, Mapping) else item
            for place, item in (paths if isinstance(paths, Mapping) else {}).items()
        },
    }


class _Converter:
    """Converts the paths of one document."""

    def __init__(self, document: Mapping[str, Any], references: References) -> None:
        self._references = references
        self._consumes = document.get("consumes") or _JSON
        self._produces = document.get("produces") or _JSON

    def path(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return a path with its operations."""
        shared = item.get("parameters")
        shared = shared if isinstance(shared, list) else []
        operations = {
            method: self._operation(item[method], shared) for method in METHODS if isinstance(item.get(method), Mapping)
        }
        return {**{name: value for name, value in item.items() if name != "parameters"}, **operations}

    def _operation(self, operation: Mapping[str, Any], shared: list[Any]) -> dict[str, Any]:
        own = operation.get("parameters")
        declared = [self._resolved(parameter) for parameter in [*(own if isinstance(own, list) else []), *shared]]
        kinds = operation.get("consumes") or self._consumes
        converted = {
            **operation,
            "parameters": [
                _parameter(known) if isinstance(known, Mapping) and "$ref" not in known else known
                for known in declared
                if not isinstance(known, Mapping) or known.get("in") not in {"body", "formData"}
            ],
            "responses": self._responses(operation),
        }
        body = _body(
            [known for known in declared if isinstance(known, Mapping)], kinds if isinstance(kinds, list) else _JSON
        )
        return {**converted, "requestBody": body} if body else converted

    def _resolved(self, parameter: Any) -> Any:  # noqa: ANN401 - any JSON value
        try:
            return self._references.resolved(parameter)
        except Unusable:
            return parameter  # reported when the operation is read

    def _responses(self, operation: Mapping[str, Any]) -> dict[str, Any]:
        kinds = operation.get("produces") or self._produces
        responses = operation.get("responses")
        converted: dict[str, Any] = {}
        for status, declared in (responses if isinstance(responses, Mapping) else {}).items():
            response = self._resolved(declared)
            if isinstance(response, Mapping) and "schema" in response:
                names = [str(kind) for kind in kinds] if isinstance(kinds, list) else _JSON
                response = {**response, "content": {name: {"schema": response["schema"]} for name in names}}
            converted[str(status)] = response
        return converted


def _parameter(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """Return a parameter with its schema apart."""
    collection = parameter.get("collectionFormat")
    converted: dict[str, Any] = {
        "name": parameter.get("name"),
        "in": parameter.get("in"),
        "required": parameter.get("required") is True,
        "description": parameter.get("description"),
        "schema": {name: value for name, value in parameter.items() if name not in _NO_SCHEMA},
        "explode": collection == "multi",
    }
    return converted | ({"style": _COLLECTIONS[collection]} if collection in _COLLECTIONS else {})


def _body(parameters: list[Mapping[str, Any]], kinds: list[Any]) -> dict[str, Any] | None:
    entire = next((parameter for parameter in parameters if parameter.get("in") == "body"), None)
    names = [str(kind) for kind in kinds]
    if entire is not None:
        return {
            "required": entire.get("required") is True,
            "description": entire.get("description"),
            "content": {name: {"schema": entire.get("schema", {})} for name in names},
        }
    form = [parameter for parameter in parameters if parameter.get("in") == "formData"]
    if not form:
        return None
    has_file = any(parameter.get("type") == "file" for parameter in form)
    required = [parameter.get("name") for parameter in form if parameter.get("required") is True]
    properties = {str(parameter.get("name")): _parameter(parameter)["schema"] for parameter in form}
    schema = {"type": "object", "properties": properties, "required": required}
    return {"required": bool(required), "content": {"multipart/form-data" if has_file else FORM: {"schema": schema}}}


def _servers(document: Mapping[str, Any]) -> list[dict[str, str]]:
    host, base = document.get("host"), document.get("basePath")
    schemes = document.get("schemes")
    scheme = "http" if isinstance(schemes, list) and schemes and "https" not in schemes else "https"
    if not isinstance(host, str) or not host:
        return []
    return [{"url": f"{scheme}://{host}{base.rstrip('/') if isinstance(base, str) else ''}"}]


def _schemes(definitions: Any) -> dict[str, Any]:  # noqa: ANN401
    converted: dict[str, Any] = {}
    for name, scheme in (definitions if isinstance(definitions, Mapping) else {}).items():
        if not isinstance(scheme, Mapping):
            continue
        if scheme.get("type") == "basic":
            converted[str(name)] = {"type": "http", "scheme": "basic"}
        elif scheme.get("type") == "oauth2":
            flow = _FLOWS.get(str(scheme.get("flow")))
            converted[str(name)] = {"type": "oauth2", "flows": {flow: scheme} if flow else {}}
        else:
            converted[str(name)] = dict(scheme)
    return converted
