"""HTTP routes of the component catalogue."""

import hashlib
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Annotated, Any, Protocol

import orjson
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import BaseModel, Field

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.catalog.gallery import Recipe, find_recipe, load_gallery, recipe_index
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry, UnknownComponent
from headgate.features.catalog.search import WordIndex
from headgate.foundation.api import problems
from headgate.graph.model import Flow
from headgate.graph.names import did_you_mean
from headgate.graph.template import Template

router = APIRouter(tags=["components"])
VIEW = needs(Permission.CATALOG_VIEW)


def _registry(request: Request) -> Registry:
    found: Registry = request.app.state.registry
    return found


def _index(request: Request) -> WordIndex:
    found: WordIndex = request.app.state.index
    return found


class OwnSource(Protocol):
    """Where a person's own components are."""

    async def own_components(self, principal: Principal) -> Sequence[CheckedComponent]:
        """Those that they made and that were checked. Nothing is executed."""
        ...


async def _overlay(request: Request, caller: Caller) -> Overlay:
    """The components of the installation, and beside them those of whoever asks."""
    source: OwnSource = request.app.state.workshop.components
    return Overlay(_registry(request), _index(request), await source.own_components(caller))


Components = Annotated[Overlay, Depends(_overlay)]


class ComponentOut(Template):
    """A component as somebody may put it into a flow."""

    code: str | None = Field(
        default=None, description="The source that a node of it carries. Only one's own components have one."
    )


@router.get(
    "/components",
    summary="List components",
    response_model=list[ComponentOut],
    responses=problems() | {304: {"description": "The templates have not changed."}},
    dependencies=[VIEW],
)
async def list_components(
    request: Request, components: Components, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """Every component's template: its inputs and outputs, as the canvas draws them; one's own come last, with code."""
    body, etag = _with_own(_answer(request, components.base), components.own.values())
    headers = {"ETag": etag, "Cache-Control": "private, max-age=0, must-revalidate"}
    if if_none_match == etag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


@router.get("/components/search", summary="Search components", responses=problems(), dependencies=[VIEW])
async def search(
    components: Components,
    q: Annotated[str, Query(min_length=1, max_length=200, description="What it should do.")],
    limit: Annotated[int, Query(ge=1, le=50)] = 8,
) -> list[dict[str, Any]]:
    """Component types by what they do, one's own among them, best first."""
    return [
        {"type": one.type, "label": one.label, "category": one.category, "description": one.description}
        | ({"own": True} if one.type in components.own else {})
        for one in components.search(q, most=limit)
    ]


@router.get("/components/{component_type}", summary="Read a component", responses=problems(404), dependencies=[VIEW])
async def read_component(component_type: str, components: Components) -> ComponentOut:
    """One component's template."""
    found = components.template(component_type)
    if found is None:
        raise UnknownComponent(
            f"There is no component '{component_type}'{did_you_mean(component_type, components.types()) or '.'}",
            remedy="Search the components.",
        )
    return ComponentOut(**found.model_dump(), code=components.code(component_type))


class TemplateSummary(BaseModel):
    """A ready-made flow in short."""

    id: str
    title: str
    description: str
    tags: tuple[str, ...]
    examples: tuple[str, ...]
    """Requests that it answers."""
    definition: Flow


class TemplateOut(TemplateSummary):
    """A ready-made flow."""

    spec: str


@router.get("/templates", summary="List flow templates", responses=problems(), dependencies=[VIEW])
async def list_templates(
    q: Annotated[str, Query(max_length=200, description="What the flow should do; all when empty.")] = "",
) -> list[TemplateSummary]:
    """Ready-made flows to start from, best match first."""
    recipes = load_gallery()
    if not q:
        return [TemplateSummary(**_summary(recipe)) for recipe in recipes]
    by_key = {recipe.key: recipe for recipe in recipes}
    return [TemplateSummary(**_summary(by_key[match.key])) for match in recipe_index(recipes).search(q)]


@router.get("/templates/{template_id}", summary="Read a flow template", responses=problems(404), dependencies=[VIEW])
async def read_template(template_id: str) -> TemplateOut:
    """A ready-made flow with its text; create a flow from the text to use it."""
    recipe = find_recipe(template_id)
    return TemplateOut(**_summary(recipe), spec=recipe.spec)


def _summary(recipe: Recipe) -> dict[str, Any]:
    return {
        "id": recipe.key,
        "title": recipe.title,
        "description": recipe.description,
        "tags": recipe.tags,
        "examples": recipe.examples,
        "definition": _definition(recipe),
    }


@lru_cache(maxsize=200)
def _definition(recipe: Recipe) -> Flow:
    return recipe.flow()


def _answer(request: Request, registry: Registry) -> tuple[bytes, str]:
    """The installation's own list as bytes with its ETag, made once."""
    kept: tuple[bytes, str] | None = getattr(request.app.state, "components_answer", None)
    if kept is None:
        templates = [template.model_dump(mode="json", exclude_defaults=True) for template in registry.templates()]
        body = orjson.dumps(templates)
        kept = body, f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        request.app.state.components_answer = kept
    return kept


def _with_own(answer: tuple[bytes, str], own: Collection[CheckedComponent]) -> tuple[bytes, str]:
    """The list with somebody's own components behind it. Its ETag is that of their code: what code is never changes."""
    if not own:
        return answer
    body, etag = answer
    added = [{**one.template.model_dump(mode="json", exclude_defaults=True), "code": one.code} for one in own]
    hashes = "".join(one.code_hash for one in own)
    return body[:-1] + b"," + orjson.dumps(added)[1:], f'"{hashlib.sha256((etag + hashes).encode()).hexdigest()[:16]}"'
