"""Ready-made flows: spec text with a few lines before it that say what it is and how people ask for it."""

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from headgate.features.catalog.search import WordIndex
from headgate.foundation.errors import NotFound
from headgate.graph.model import Flow
from headgate.graph.names import did_you_mean
from headgate.graph.spec import parse_spec

_FENCE = "---"


class UnknownTemplate(NotFound):
    """No template of that name."""

    code = "unknown_template"
    title = "Unknown template"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A ready-made flow. `spec` is its text, `examples` are requests it answers."""

    key: str
    title: str
    description: str
    tags: tuple[str, ...]
    examples: tuple[str, ...]
    spec: str

    def flow(self) -> Flow:
        """The flow itself."""
        return parse_spec(self.spec)


@lru_cache(maxsize=1)
def load_gallery() -> tuple[Recipe, ...]:
    """Every recipe that ships with Headgate, sorted by key."""
    folder = files("headgate.features.catalog") / "gallery"
    found = [entry for entry in folder.iterdir() if entry.name.endswith(".flow")]
    return tuple(parse_recipe(entry.name[:-5], entry.read_text(encoding="utf-8")) for entry in sorted(found, key=_name))


def find_recipe(key: str) -> Recipe:
    """The recipe of that key. Raises `UnknownTemplate` naming the nearest."""
    recipes = {recipe.key: recipe for recipe in load_gallery()}
    if key not in recipes:
        raise UnknownTemplate(
            f"There is no template '{key}'{did_you_mean(key, list(recipes)) or '.'}", remedy="List the templates."
        )
    return recipes[key]


def _name(entry: object) -> str:
    return str(getattr(entry, "name", ""))


def parse_recipe(key: str, text: str) -> Recipe:
    """A recipe from its text: front matter between `---` lines, then a flow spec. Raises `ValueError` without one."""
    start, fence, rest = text.partition(f"{_FENCE}\n")
    head, closing, spec = rest.partition(f"{_FENCE}\n")
    if start.strip() or not fence or not closing:
        raise ValueError(f"recipe '{key}' does not begin with front matter between '---' lines")
    values: dict[str, str] = {}
    examples: list[str] = []
    for line in head.splitlines():
        if line.startswith("- "):
            examples.append(line[2:].strip())
        elif ":" in line:
            name, _, value = line.partition(":")
            values[name.strip()] = value.strip()
    missing = [name for name in ("title", "description") if not values.get(name)]
    if missing or not examples:
        raise ValueError(f"recipe '{key}' has no {' and no '.join(missing) or 'examples'}")
    tags = tuple(tag.strip() for tag in values.get("tags", "").split(",") if tag.strip())
    return Recipe(key, values["title"], values["description"], tags, tuple(examples), spec)


def recipe_index(recipes: tuple[Recipe, ...]) -> WordIndex:
    """An index over recipes, keyed by recipe key."""
    return WordIndex(
        {
            recipe.key: (
                (recipe.title, 3.0),
                (" ".join(recipe.tags), 2.0),
                (recipe.description, 1.0),
                (" ".join(recipe.examples), 1.0),
            )
            for recipe in recipes
        }
    )
