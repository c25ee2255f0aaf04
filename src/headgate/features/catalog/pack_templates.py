"""Templates of installed packs, in addition to those of the gallery."""

from collections.abc import Sequence

import yaml
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.catalog.gallery import Recipe, UnknownTemplate, find_recipe, load_gallery, parse_recipe
from headgate.features.packs import repository
from headgate.features.packs.tables import PackItem

_FENCE = "\n---\n"


def parse_pack_template(key: str, text: str) -> Recipe:
    """Return a template of a pack, whose text is hostile. Raises `ValueError` where a part is missing or unknown."""
    sample = text.rpartition(_FENCE)[2]
    try:
        if {yaml.AnchorToken, yaml.AliasToken} <= {type(token) for token in yaml.scan(sample) if "*" in sample}:
            raise ValueError(f"template '{key}' has YAML aliases, which can multiply its size")
    except yaml.YAMLError:
        pass  # there is no sample, or the parser refuses it
    try:
        return parse_recipe(key, text)
    except (yaml.YAMLError, RecursionError, AttributeError, TypeError) as error:
        raise ValueError(f"template '{key}' is not valid ({type(error).__name__})") from error


async def all_recipes(session: AsyncSession) -> tuple[Recipe, ...]:
    """Return the templates of the gallery, and after them those of the installed packs."""
    return (*load_gallery(), *(_recipe(item.key, item.content) for item in await _items(session)))


async def recipe_named(session: AsyncSession, key: str) -> Recipe:
    """Return a template of the gallery or of a pack. Raises `UnknownTemplate` with the nearest one."""
    items = await repository.list_pack_items(session, "template", key)
    if items:
        return _recipe(key, items[0].content)
    try:
        return find_recipe(key)
    except UnknownTemplate as error:
        names = [item.key for item in await _items(session)]
        if names:
            error.remedy = f"{error.remedy} Templates of packs: {', '.join(names[:10])}."
        raise


async def _items(session: AsyncSession) -> Sequence[PackItem]:
    return await repository.list_pack_items(session, "template")


def _recipe(key: str, content: dict[str, str]) -> Recipe:
    return parse_recipe(key, content["text"])
