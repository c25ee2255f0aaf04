"""When a ready-made flow of the gallery answers a request better than the chain that was read from it."""

from headgate.agents.assistant.offline.intents.build import Built
from headgate.agents.assistant.offline.intents.catalogue import CatalogueIndex
from headgate.agents.assistant.offline.understanding import Action, Understanding
from headgate.features.catalog.gallery import Recipe
from headgate.features.catalog.words import base_forms, word_set, words
from headgate.graph.spec import print_spec

_ASKED = word_set("template recipe example sample gallery mall exempel")
_SHARE = 0.8
"""Share of the request's meaningful words that a recipe must speak of."""


def matching_recipe(built: Built, index: CatalogueIndex) -> Understanding | None:
    """The recipe a request means: its words are the recipe's and the chain left much unread, or it asks for one."""
    reading = built.reading
    asked = any(token.word in _ASKED for token in reading.tokens)
    if built.is_flow and reading.coverage() >= 0.99 and not asked:
        return None
    wanted = [
        token.word for at, token in enumerate(reading.tokens) if reading.is_content(at) and token.word not in _ASKED
    ]
    titles = {recipe.title.lower() for recipe in index.recipes}
    if len(wanted) < 2 and not asked and not titles & set(wanted):
        return None
    found = index.recipe_words.search(" ".join(wanted), most=2)
    if not found or (len(found) > 1 and found[0].score < 1.15 * found[1].score):
        return None
    recipe = next(recipe for recipe in index.recipes if recipe.key == found[0].key)
    share = _share(wanted, recipe)
    better = share >= _SHARE and (not built.is_flow or share > reading.coverage())
    if not (better or (asked and share >= 0.5)) or (built.is_flow and built.shop.outputs and not asked):
        return None
    return _use(recipe, built)


def _share(wanted: list[str], recipe: Recipe) -> float:
    text = " ".join([recipe.title, recipe.description, *recipe.tags, *recipe.examples])
    known = {form for word in words(text) for form in base_forms(word)}
    return sum(bool(set(base_forms(word)) & known) for word in wanted) / max(1, len(wanted))


def _use(recipe: Recipe, built: Built) -> Understanding:
    flow = recipe.flow()
    actions = [Action("build_flow", {"spec": print_spec(flow)})]
    if built.run is not None:
        actions.append(Action("run_flow", built.run.arguments()))
    note = f"I took the ready-made flow '{recipe.title}': {recipe.description}"
    model = next((str(node.params["model"]) for node in flow.nodes if "model" in node.params), "")
    note += f" It uses the model {model}; set another in the step if you have no key for it." if model else ""
    return Understanding("build_flow", note, tuple(actions), flow, (note,), coverage=1.0, done=f"Built '{flow.name}'.")
