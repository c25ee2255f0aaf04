"""Operations on the catalog: components and templates."""

from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.features.catalog.gallery import load_gallery, recipe_index
from headgate.graph.model import Flow
from headgate.toolkit.reading import first_sentence, template_of
from headgate.toolkit.stored.operation import Row
from headgate.toolkit.stored.visit import Visit
from headgate.toolkit.tool import Result
from headgate.toolkit.workbench import Workbench

MOST_FOUND = 8


class TemplateLine(TypedDict):
    """A template in a list."""

    template_id: str
    title: str
    description: str
    tags: list[str]


class TemplateList(TypedDict):
    """Templates, best match first."""

    templates: list[TemplateLine]


class Types(TypedDict):
    """Component names by category."""

    categories: dict[str, list[str]]


class Count(TypedDict):
    """Number of components."""

    components: int
    by_category: dict[str, int]


async def get_component(visit: Visit, component_type: str) -> Result:
    """Show the inputs and outputs of a component type.

    Args:
        component_type: Exact type name, from search_components.
    """
    return dict(template_of(await _bench(visit), component_type).as_reading)


async def list_component_types(visit: Visit, category: str = "") -> Types:
    """List every component type, by category.

    Args:
        category: Only this category; all when empty.
    """
    by_category: dict[str, list[str]] = {}
    for type_, its_category in await _categories(visit):
        if not category or its_category.casefold() == category.casefold():
            by_category.setdefault(its_category, []).append(type_)
    return {"categories": by_category}


async def count_components(visit: Visit) -> Count:
    """Return the number of component types."""
    counted: dict[str, int] = {}
    for _type, category in await _categories(visit):
        counted[category] = counted.get(category, 0) + 1
    return {"components": sum(counted.values()), "by_category": counted}


async def search_templates(
    visit: Visit,  # noqa: ARG001 - every operation has one
    query: str = "",
    tags: list[str] = [],  # noqa: B006 - read by `define`, never changed
    limit: int = MOST_FOUND,
) -> TemplateList:
    """Find flow templates to use with create_flow_from_template.

    Args:
        query: Purpose of the flow; all templates when empty.
        tags: Only templates with all of these tags.
        limit: 20 at most.
    """
    recipes = load_gallery()
    if query:
        by_key = {recipe.key: recipe for recipe in recipes}
        recipes = tuple(by_key[match.key] for match in recipe_index(recipes).search(query[:500], most=len(by_key)))
    required = {tag.casefold() for tag in tags}
    rows: list[TemplateLine] = [
        {
            "template_id": recipe.key,
            "title": recipe.title,
            "description": first_sentence(recipe.description),
            "tags": list(recipe.tags),
        }
        for recipe in recipes
        if required <= {tag.casefold() for tag in recipe.tags}
    ]
    return {"templates": rows[: max(1, min(limit, 20))]}


async def _bench(visit: Visit) -> Workbench:
    return visit.bench(Flow(), visit.principal.space_id, await visit.catalog(Flow()))


async def _categories(visit: Visit) -> list[tuple[str, str]]:
    registry = (await _bench(visit)).registry
    templates = [(type_, registry.template(type_)) for type_ in registry.types()]
    return [(type_, template.category) for type_, template in templates if template is not None]


OPERATIONS: tuple[Row, ...] = (
    (get_component, Permission.CATALOG_VIEW, "read"),
    (list_component_types, Permission.CATALOG_VIEW, "read"),
    (count_components, Permission.CATALOG_VIEW, "read"),
    (search_templates, Permission.CATALOG_VIEW, "read"),
)
