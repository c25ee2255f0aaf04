"""Every call of the HTTP API, made from its own OpenAPI document."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from tests.integration.isolation.known import FOR_ROUTE, is_known, owned, shared
from tests.integration.isolation.worlds import World

JSON, FORM = "application/json", "multipart/form-data"
METHODS = ("get", "head", "put", "post", "patch", "delete", "options")


@dataclass(frozen=True)
class Route:
    """A route with the names that the matrix fills in, by where they stand."""

    method: str
    path: str
    places: Mapping[str, str] = field(default_factory=dict)
    """Name to `path`, `query`, `json` or `form`."""
    has_body: bool = False

    @property
    def owned(self) -> tuple[str, ...]:
        """Names whose value only one tenant has."""
        return tuple(name for name in self.places if owned(self.path, name) is not None)

    def having(self, name: str, world: World) -> list[Any]:
        """The values of a name that only this tenant has."""
        found = owned(self.path, name)
        return [] if found is None else found(world)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Call:
    """A request: values by name, and the names whose values are somebody else's."""

    route: Route
    values: Mapping[str, Any]
    foreign: tuple[str, ...] = ()

    def arguments(self) -> dict[str, Any]:
        """What httpx takes."""
        path = self.route.path
        given: dict[str, dict[str, Any]] = {"query": {}, "json": {}, "form": {}}
        for name, place in self.route.places.items():
            value = self.values[name]
            if place == "path":
                path = path.replace("{" + name + "}", str(value))
            elif value is not None:
                given[place][name] = value
        more: dict[str, Any] = {"params": given["query"]} if given["query"] else {}
        if given["form"]:
            more["files"] = given["form"]
        elif self.route.has_body:
            more["json"] = given["json"]
        return {"method": self.route.method, "url": f"http://127.0.0.1:7411{path}", **more}

    @property
    def of_draft(self) -> bool:
        """Whether it changes a draft, of which each change must name the revision by then."""
        return isinstance(self.values.get("revision"), int)

    def sent(self) -> set[str]:
        """Every text in the values."""
        return {text for value in self.values.values() for text in _texts(value)}

    def __str__(self) -> str:
        return f"{self.route} with another tenant's {', '.join(self.foreign) or 'nothing'}"


def routes_of(app: FastAPI) -> list[Route]:
    """All documented routes. Raises `Unknown` where the matrix cannot fill one in."""
    document = app.openapi()
    return [
        _route(document, method, path, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in METHODS
    ]


def undocumented(routes: Iterable[Any]) -> Iterator[str]:
    """Paths of everything that is mounted and not in the OpenAPI document."""
    for route in routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from undocumented(inner.routes)
        elif not (isinstance(route, APIRoute) and route.include_in_schema):
            yield route.path


def _route(document: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> Route:
    places = {
        parameter["name"]: parameter["in"]
        for parameter in operation.get("parameters", ())
        if parameter["in"] != "header"
        and is_known(path, parameter["name"], required=parameter.get("required", False))
        and not _is_number(parameter)
    }
    content = operation.get("requestBody", {}).get("content", {})
    for kind, place in ((JSON, "json"), (FORM, "form")):
        if kind in content:
            schema = _resolved(document, content[kind]["schema"])
            required = schema.get("required", ())
            for name in schema.get("properties", {}):
                known = is_known(path, name, required=name in required)
                if known and (name in required or owned(path, name) or (path, name) in FOR_ROUTE):
                    places[name] = place
    return Route(method.upper(), path, places, has_body=bool(content))


def _is_number(parameter: Mapping[str, Any]) -> bool:
    """An optional number counts pages or things; no tenant owns one."""
    schema = parameter.get("schema", {})
    kinds = {schema.get("type"), *(one.get("type") for one in schema.get("anyOf", ()))}
    return "integer" in kinds and not parameter.get("required", False)


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object that a schema describes, behind references and `null` alternatives."""
    if "$ref" in schema:
        return _resolved(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    for one in schema.get("anyOf", ()):
        if one.get("type") != "null":
            return _resolved(document, one)
    return schema


def own_calls(route: Route, world: World) -> Iterator[Call]:
    """The request on what the caller has, one for each of its things."""
    most = max((len(route.having(name, world)) for name in route.owned), default=1)
    for number in range(most):
        values = {name: shared(route.path, name, world) for name in route.places if name not in route.owned}
        for name in route.owned:
            having = route.having(name, world)
            values[name] = having[min(number, len(having) - 1)]
        yield Call(route, values)


def foreign_calls(route: Route, mine: World, theirs: World) -> Iterator[Call]:
    """The same request with another tenant's value in one place, for each place and each of its things; then in all."""
    own = next(own_calls(route, mine))
    for name in route.owned:
        for value in route.having(name, theirs):
            yield replace(own, values={**own.values, name: value}, foreign=(name,))
    if len(route.owned) > 1:
        for call in own_calls(route, theirs):
            values = {name: call.values[name] if name in route.owned else own.values[name] for name in route.places}
            yield Call(route, values, foreign=route.owned)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)
