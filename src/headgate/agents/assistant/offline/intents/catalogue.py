"""The search indexes over components and recipes, built once for a catalogue."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from headgate.features.catalog.gallery import Recipe, load_gallery, recipe_index
from headgate.features.catalog.search import WordIndex, component_index
from headgate.graph.template import Catalog, Template


@dataclass(frozen=True, slots=True)
class CatalogueIndex:
    """What can be searched: component types and ready-made flows."""

    catalog: Catalog
    components: WordIndex
    recipes: tuple[Recipe, ...]
    recipe_words: WordIndex

    def templates(self, query: str, most: int = 6) -> list[Template]:
        """Components a query is about, best first."""
        found = self.components.search(query, most=most)
        return [template for match in found if (template := self.catalog.template(match.key)) is not None]

    def near(self, query: str, most: int = 3) -> list[Recipe]:
        """Recipes near a query; the first of the gallery when none is."""
        found = [match.key for match in self.recipe_words.search(query, most=most)]
        known = {recipe.key: recipe for recipe in self.recipes}
        chosen = [known[key] for key in found]
        return chosen + [recipe for recipe in self.recipes if recipe not in chosen][: most - len(chosen)]


_INDEXES: "WeakKeyDictionary[Catalog, CatalogueIndex]" = WeakKeyDictionary()


def index_of(catalog: Catalog) -> CatalogueIndex:
    """The index of a catalogue, built at first use."""
    found = _INDEXES.get(catalog)
    if found is None:
        recipes = load_gallery()
        found = CatalogueIndex(catalog, component_index(catalog), recipes, recipe_index(recipes))
        _INDEXES[catalog] = found
    return found
