"""HTTP routes of the component catalogue."""

import hashlib
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import BaseModel

from headgate.features.access.caller import needs
from headgate.features.access.permissions import Permission
from headgate.features.catalog.gallery import Recipe, find_recipe, load_gallery, recipe_index
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


Components = Annotated[Registry, Depends(_registry)]
Index = Annotated[WordIndex, Depends(_index)]


@router.get(
    "/components",
    summary="List components",
    response_model=list[Template],
    responses=problems() | {304: {"description": "The templates have not changed."}},
    dependencies=[VIEW],
)
async def list_components(
    request: Request, registry: Components, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """Every component's template: its inputs and outputs, as the canvas draws them. Unchanged while the server runs."""
    body, etag = _answer(request, registry)
    headers = {"ETag": etag, "Cache-Control": "private, max-age=0, must-revalidate"}
    if if_none_match == etag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


@router.get("/components/search", summary="Search components", responses=problems(), dependencies=[VIEW])
async def search(
    registry: Components,
    index: Index,
    q: Annotated[str, Query(min_length=1, max_length=200, description="What it should do.")],
    limit: Annotated[int, Query(ge=1, le=50)] = 8,
) -> list[dict[str, Any]]:
    """Component types by what they do, best first."""
    found = [registry.template(match.key) for match in index.search(q, most=limit)]
    return [
        {"type": one.type, "label": one.label, "category": one.category, "description": one.description}
        for one in found
        if one is not None
    ]


@router.get("/components/{component_type}", summary="Read a component", responses=problems(404), dependencies=[VIEW])
async def read_component(component_type: str, registry: Components) -> Template:
    """One component's template."""
    found = registry.template(component_type)
    if found is None:
        raise UnknownComponent(
            f"There is no component '{component_type}'{did_you_mean(component_type, registry.types()) or '.'}",
            remedy="Search the components.",
        )
    return found


class TemplateSummary(BaseModel):
    """A ready-made flow in short."""

    id: str
    title: str
    description: str
    tags: tuple[str, ...]
    examples: tuple[str, ...]
    """Requests that it answers."""


class TemplateOut(TemplateSummary):
    """A ready-made flow."""

    spec: str
    definition: Flow


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
    return TemplateOut(**_summary(recipe), spec=recipe.spec, definition=recipe.flow())


def _summary(recipe: Recipe) -> dict[str, Any]:
    return {
        "id": recipe.key,
        "title": recipe.title,
        "description": recipe.description,
        "tags": recipe.tags,
        "examples": recipe.examples,
    }


def _answer(request: Request, registry: Registry) -> tuple[bytes, str]:
    """The list as bytes with its ETag, made once."""
    kept: tuple[bytes, str] | None = getattr(request.app.state, "components_answer", None)
    if kept is None:
        templates = [template.model_dump(mode="json", exclude_defaults=True) for template in registry.templates()]
        body = orjson.dumps(templates)
        kept = body, f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        request.app.state.components_answer = kept
    return kept
