"""Template flows: spec text with front matter that describes them, example requests and sample data for a first run."""

from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, JsonValue, StringConstraints, ValidationError

from headgate.features.catalog.search import WordIndex
from headgate.foundation.errors import NotFound
from headgate.graph.connection_reference import connections_of
from headgate.graph.model import Flow
from headgate.graph.names import did_you_mean
from headgate.graph.spec import parse_spec
from headgate.graph.template import Catalog
from headgate.sdk.connections import SQL_KINDS, STORAGE_KINDS

_FENCE = "---"
_MODEL_STEPS = frozenset(
    {"AIStep", "Agent", "LanguageModel", "StructuredOutput", "Classify", "Transcribe", "AnswerFromKnowledge"}
)
_TRIGGER_KINDS = {
    "mail": ("imap",),
    "rows": SQL_KINDS,
    "folder": STORAGE_KINDS,
    "stream": ("redis",),
    "queue": ("amqp",),
    "topic": ("kafka",),
}
_FLOW_STEPS = frozenset({"RunFlow", "ForEach", "ForEachPage", "Loop"})
_NETWORK_STEPS = frozenset({"URL", "HTTPRequest", "ForEachPage", "WebhookOut", "ReadFeed", "ReadSitemap", "ApiCall"})


class UnknownTemplate(NotFound):
    """No template has that name."""

    code = "unknown_template"


Category = Literal["documents", "spreadsheets", "text", "forms", "chat", "web", "data", "operations"]


class SampleFile(BaseModel):
    """A small text file that the sample run reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, StringConstraints(pattern=r"^[\w-]+\.(csv|txt|md|log|json|html)$", max_length=60)]
    content: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]


class Sample(BaseModel):
    """The input of a first run: what is typed, the answers of the form, a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = ""
    form: dict[str, JsonValue] = {}
    file: SampleFile | None = None


class TemplateTrigger(BaseModel):
    """A trigger of a template, as in an exported flow."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    config: dict[str, JsonValue]


class NeededConnection(BaseModel):
    """A connection that a template names; the user adds it."""

    name: str
    kinds: tuple[str, ...]
    """Kinds that the step or trigger takes; empty: any for HTTP requests."""


class Recipe(BaseModel):
    """A template flow. `spec` is its text, `examples` are matching requests, `shows` is part of the sample's result."""

    model_config = ConfigDict(frozen=True)

    key: str
    title: str
    description: str
    category: Category
    tags: tuple[str, ...]
    examples: tuple[str, ...]
    swedish: tuple[str, ...] = ()
    """Example requests in Swedish, for search and the offline builder."""
    spec: str
    sample: Sample = Sample()
    triggers: tuple[TemplateTrigger, ...] = ()
    """What starts the flow by itself; it is added switched off."""
    shows: tuple[str, ...] = ()

    def flow(self) -> Flow:
        """Return the flow, the same one at every call."""
        return _flow_of(self.spec)

    @property
    def needs_model(self) -> bool:
        """Return whether a step calls a language model."""
        return self._has(_MODEL_STEPS)

    @property
    def needs_network(self) -> bool:
        """Return whether a step or a trigger reads an address on the internet."""
        return self._has(_NETWORK_STEPS) or any("url" in trigger.config for trigger in self.triggers)

    def _has(self, types: frozenset[str]) -> bool:
        return any(node.type in types for recipe in (self, *self.called()) for node in recipe.flow().nodes)

    @property
    def needs_flows(self) -> tuple[str, ...]:
        """Return the names of other flows that its steps run; each is the flow of a template."""
        names = (node.params.get("flow") for node in self.flow().nodes if node.type in _FLOW_STEPS)
        return tuple(dict.fromkeys(str(name) for name in names))

    def needs_connections(self, catalog: Catalog) -> tuple[NeededConnection, ...]:
        """Return the connections that its steps and triggers name, by name; those of flows that it runs too."""
        needed: dict[str, tuple[str, ...]] = {}
        for recipe in (self, *self.called()):
            for node in recipe.flow().nodes:
                template = catalog.template(node.type, node.params)
                for _, reference in connections_of(node.params, template) if template is not None else ():
                    needed.setdefault(reference.name, reference.kinds)
            for trigger in recipe.triggers:
                name = trigger.config.get("connection")
                if isinstance(name, str):
                    needed.setdefault(name, _TRIGGER_KINDS.get(str(trigger.config.get("kind")), ()))
        return tuple(NeededConnection(name=name, kinds=kinds) for name, kinds in sorted(needed.items()))

    def called(self) -> tuple["Recipe", ...]:
        """Return the templates of these flows; their own steps run no flows."""
        names = self.needs_flows
        return tuple(recipe for recipe in load_gallery() if recipe.flow().name in names) if names else ()


@lru_cache(maxsize=500)
def _flow_of(spec: str) -> Flow:
    return parse_spec(spec)


@lru_cache(maxsize=1)
def load_gallery() -> tuple[Recipe, ...]:
    """Return every bundled template, sorted by key."""
    folder = files("headgate.features.catalog") / "gallery"
    entries = [entry for entry in folder.iterdir() if entry.name.endswith(".flow")]
    return tuple(
        parse_recipe(entry.name[:-5], entry.read_text(encoding="utf-8")) for entry in sorted(entries, key=_name)
    )


def find_recipe(key: str) -> Recipe:
    """Return the template with that key. Raises `UnknownTemplate` with the nearest one."""
    recipes = {recipe.key: recipe for recipe in load_gallery()}
    if key not in recipes:
        raise UnknownTemplate(
            f"There is no template '{key}'{did_you_mean(key, list(recipes)) or '.'}", remedy="List the templates."
        )
    return recipes[key]


def _name(entry: object) -> str:
    return str(getattr(entry, "name", ""))


def parse_recipe(key: str, text: str) -> Recipe:
    """A template from its text: front matter between `---` lines, a flow spec, then `---`, samples and triggers.

    Raises `ValueError` where a part is missing or unknown.
    """
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
    spec, _, sample = spec.partition(f"\n{_FENCE}\n")
    given = (yaml.safe_load(sample) or {}) if sample else {}
    shows, triggers = given.pop("shows", []), given.pop("triggers", [])
    try:
        return Recipe.model_validate(
            {
                "key": key,
                "title": values["title"],
                "description": values["description"],
                "category": values.get("category", "text"),
                "tags": tags,
                "examples": tuple(examples),
                "swedish": (values["swedish"],) if values.get("swedish") else (),
                "spec": spec.rstrip("\n") + "\n",
                "sample": given,
                "shows": tuple(shows),
                "triggers": tuple(triggers),
            }
        )
    except ValidationError as error:
        raise ValueError(f"recipe '{key}': {error}") from error


def recipe_index(recipes: tuple[Recipe, ...]) -> WordIndex:
    """Return a search index over templates, by key."""
    return WordIndex(
        {
            recipe.key: (
                (recipe.title, 3.0),
                (" ".join(recipe.tags), 2.0),
                (recipe.description, 1.0),
                (" ".join((*recipe.examples, *recipe.swedish)), 1.0),
            )
            for recipe in recipes
        }
    )
