"""HTTP routes of the component catalog."""

import hashlib
from collections.abc import Collection, Sequence
from typing import Annotated, Any, Protocol

import orjson
from fastapi import Depends, Header, Query, Request, Response
from pydantic import BaseModel, Field

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.catalog.gallery import (
    Category,
    NeededConnection,
    Recipe,
    Sample,
    recipe_index,
)
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.pack_templates import all_recipes, recipe_named
from headgate.features.catalog.registry import Registry, UnknownComponent
from headgate.features.catalog.search import WordIndex
from headgate.foundation.api import ReadSession, Routes
from headgate.graph.model import Flow
from headgate.graph.names import did_you_mean
from headgate.graph.template import Catalog, Template

router = Routes(tags=["components"])
VIEW = needs(Permission.CATALOG_VIEW)


def _registry(request: Request) -> Registry:
    registry: Registry = request.app.state.registry
    return registry


def _index(request: Request) -> WordIndex:
    index: WordIndex = request.app.state.index
    return index


class OwnSource(Protocol):
    """Source of a user's custom components."""

    async def own_components(self, principal: Principal) -> Sequence[CheckedComponent]:
        """Return the user's checked components. Nothing is executed."""


async def _overlay(request: Request, caller: Caller) -> Overlay:
    """Return the components of the installation and the custom ones of the caller."""
    source: OwnSource = request.app.state.workshop.components
    return Overlay(_registry(request), _index(request), await source.own_components(caller))


Components = Annotated[Overlay, Depends(_overlay)]


class ComponentOut(Template):
    """A component that can be added to a flow."""

    code: str | None = Field(
        default=None, description="Source code of the node's component. Null for installed components."
    )
    pack: str = Field(default="", description="Pack that it belongs to; empty for others.")


@router.get(
    "/components",
    "List components",
    [VIEW],
    response_model=list[ComponentOut],
    responses={304: {"description": "The templates have not changed."}},
)
async def list_components(
    request: Request, components: Components, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """List every component's template: its inputs and outputs, as drawn on the canvas; custom ones last, with code."""
    body, etag = _with_own(_answer(request, components.base), components.own.values())
    headers = {"ETag": etag, "Cache-Control": "private, max-age=0, must-revalidate"}
    if if_none_match == etag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


@router.get("/components/search", "Search components", [VIEW])
async def search(
    components: Components,
    q: Annotated[str, Query(min_length=1, max_length=200, description="What the component should do.")],
    limit: Annotated[int, Query(ge=1, le=50)] = 8,
) -> list[dict[str, Any]]:
    """Search component types by function, including custom ones, best first."""
    return [
        {
            "type": template.type,
            "label": template.label,
            "category": template.category,
            "description": template.description,
        }
        | ({"own": True} if template.type in components.own else {})
        for template in components.search(q, most=limit)
    ]


@router.get("/components/{component_type}", "Read a component", [VIEW], problems=(404,))
async def read_component(component_type: str, components: Components) -> ComponentOut:
    """A component's template."""
    template = components.template(component_type)
    if template is None:
        raise UnknownComponent(
            f"There is no component '{component_type}'{did_you_mean(component_type, components.types()) or '.'}",
            remedy="Search the components.",
        )
    own = components.own.get(component_type)
    return ComponentOut(
        **template.model_dump(), code=components.code(component_type), pack=own.pack if own is not None else ""
    )


class TemplateSummary(BaseModel):
    """Summary of a template flow."""

    id: str
    title: str
    description: str
    category: Category
    tags: tuple[str, ...]
    examples: tuple[str, ...]
    """Example requests."""
    definition: Flow
    needs_model: bool
    """Whether a step calls a language model."""
    needs_network: bool
    """Whether a step reads an address on the internet."""
    needs_flows: tuple[str, ...]
    """Names of flows that its steps run; creating the flow creates and publishes those that are not published."""
    needs_connections: tuple[NeededConnection, ...]
    """Connections that its steps and triggers name. They are not created with the flow."""
    triggers: tuple[str, ...]
    """Names of triggers that are added with the flow, switched off."""
    sample: Sample
    """Input of a first run: text, answers of the form, a file."""


class TemplateOut(TemplateSummary):
    """A template flow."""

    spec: str


@router.get("/templates", "List flow templates", [VIEW])
async def list_templates(
    session: ReadSession,
    components: Components,
    q: Annotated[str, Query(max_length=200, description="What the flow should do; all when empty.")] = "",
) -> list[TemplateSummary]:
    """List template flows, best match first; after those of Headgate those of packs."""
    recipes = await all_recipes(session)
    if not q:
        return [TemplateSummary(**_summary(recipe, components)) for recipe in recipes]
    by_key = {recipe.key: recipe for recipe in recipes}
    matches = (by_key[match.key] for match in recipe_index(recipes).search(q))
    return [TemplateSummary(**_summary(recipe, components)) for recipe in matches]


@router.get("/templates/{template_id}", "Read a flow template", [VIEW], problems=(404,))
async def read_template(session: ReadSession, components: Components, template_id: str) -> TemplateOut:
    """A template flow with its text; create a flow from the text to use it."""
    recipe = await recipe_named(session, template_id)
    return TemplateOut(**_summary(recipe, components), spec=recipe.spec)


def _summary(recipe: Recipe, catalog: Catalog) -> dict[str, Any]:
    return {
        "id": recipe.key,
        "title": recipe.title,
        "description": recipe.description,
        "tags": recipe.tags,
        "examples": recipe.examples,
        "category": recipe.category,
        "definition": recipe.flow(),
        "needs_model": recipe.needs_model,
        "needs_network": recipe.needs_network,
        "needs_flows": recipe.needs_flows,
        "needs_connections": recipe.needs_connections(catalog),
        "triggers": tuple(trigger.name for trigger in recipe.triggers),
        "sample": recipe.sample,
    }


def _answer(request: Request, registry: Registry) -> tuple[bytes, str]:
    """Return the installation's list as bytes with its ETag, cached."""
    cached: tuple[bytes, str] | None = getattr(request.app.state, "components_answer", None)
    if cached is None:
        templates = [template.model_dump(mode="json", exclude_defaults=True) for template in registry.templates()]
        body = orjson.dumps(templates)
        cached = body, f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        request.app.state.components_answer = cached
    return cached


def _with_own(built_in: tuple[bytes, str], own: Collection[CheckedComponent]) -> tuple[bytes, str]:
    """Return the list with a user's custom components appended. Its ETag includes the hashes of their code."""
    if not own:
        return built_in
    body, etag = built_in
    added = [
        {**component.template.model_dump(mode="json", exclude_defaults=True), "code": component.code}
        | ({"pack": component.pack} if component.pack else {})
        for component in own
    ]
    hashes = "".join(component.code_hash for component in own)
    return body[:-1] + b"," + orjson.dumps(added)[1:], f'"{hashlib.sha256((etag + hashes).encode()).hexdigest()[:16]}"'
