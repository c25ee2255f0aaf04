"""The search indexes over components and recipes, built once for a catalogue."""

from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

from headgate.features.catalog.gallery import Recipe, load_gallery, recipe_index
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.search import WordIndex, component_index
from headgate.graph.template import Catalog, Template

_BEYOND = frozenset({"document-summary", "researcher", "third-party-notices"})
"""Recipes whose requests the offline builder refuses: it offers none of them as what it can do."""


@dataclass(frozen=True, slots=True)
class CatalogueIndex:
    """What can be searched: component types and ready-made flows."""

    catalog: Catalog
    components: WordIndex | None
    """None where the catalogue is searched by itself."""
    recipes: tuple[Recipe, ...]
    recipe_words: WordIndex

    def templates(self, query: str, most: int = 6) -> list[Template]:
        """Components a query is about, best first."""
        if isinstance(self.catalog, Overlay):
            return self.catalog.search(query, most=most)
        found = self.components.search(query, most=most) if self.components is not None else ()
        return [template for match in found if (template := self.catalog.template(match.key)) is not None]

    def near(self, query: str, most: int = 3) -> list[Recipe]:
        """Recipes near a query that are built without a model; the first such of the gallery when none is near."""
        known = {recipe.key: recipe for recipe in self.recipes if recipe.key not in _BEYOND}
        found = [match.key for match in self.recipe_words.search(query, most=2 * most)]
        chosen = [known[key] for key in found if key in known][:most]
        return chosen + [recipe for recipe in known.values() if recipe not in chosen][: most - len(chosen)]


_INDEXES: "WeakKeyDictionary[Catalog, WordIndex]" = WeakKeyDictionary()


def index_of(catalog: Catalog) -> CatalogueIndex:
    """The index of a catalogue, built at first use; that of a request searches with the registry's."""
    if isinstance(catalog, Overlay):
        return CatalogueIndex(catalog, None, *_recipes())
    found = _INDEXES.get(catalog)
    if found is None:
        found = _INDEXES[catalog] = component_index(catalog)
    return CatalogueIndex(catalog, found, *_recipes())


@lru_cache(maxsize=1)
def _recipes() -> tuple[tuple[Recipe, ...], WordIndex]:
    recipes = load_gallery()
    return recipes, recipe_index(recipes)
