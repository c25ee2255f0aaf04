"""`headgate components`."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from headgate.entrypoints.cli.component_checks import show_check
from headgate.entrypoints.cli.exit_codes import INVALID, OK
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, table
from headgate.entrypoints.cli.session import acting, on_parts, with_parts
from headgate.entrypoints.cli.transfer import read_text
from headgate.entrypoints.compose import Parts
from headgate.features.catalog.installed import full_registry
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.own.schemas import ComponentCheckOut
from headgate.features.catalog.own.service import check_code
from headgate.features.catalog.search import component_index
from headgate.graph.template import Template
from headgate.toolkit.reading import first_sentence

SEARCH = "search"


class _SearchFirst(TyperGroup):
    """Searches where no command is named: `headgate components fetch a page`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own type is private
        """Insert the command name before arguments without one."""
        named = bool(args) and args[0] in {*self.commands, *ctx.help_option_names}
        parsed: list[str] = super().parse_args(ctx, args if named else [SEARCH, *_as_query(args)])
        return parsed


def _as_query(args: list[str]) -> list[str]:
    """The words before the first option as one query; `list`, `show TYPE` and `describe TYPE` are searches too."""
    words = list(takewhile(lambda arg: not arg.startswith("-"), args))
    options = args[len(words) :]
    if words == ["list"] or (len(words) == 2 and words[0] in {"show", "describe"}):
        words = words[1:]
    return [" ".join(words), *options] if words else options


app = typer.Typer(
    cls=_SearchFirst, add_completion=False, help="Search and describe components; check custom components."
)


@app.command()
def check(
    path: Annotated[str, typer.Argument(help="Python file, or - for standard input.")], json: JsonFlag = False
) -> int:
    """Check a custom component in the sandbox. Only code that passes can be used in flows. Exit code 3 if it fails."""
    code = read_text(path)

    async def work(parts: Parts) -> int:
        try:
            outcome = ComponentCheckOut.of(await check_code(parts.database, parts.checker, acting(), code))
        except ComponentNotMade as error:
            outcome = ComponentCheckOut.of_faults(error)
        print_json(outcome) if json else show_check(outcome, path)
        return OK if outcome.ok else INVALID

    return with_parts(work)


@app.command()
def register(
    path: Annotated[str, typer.Argument(help="Python file, or - for standard input.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    json: JsonFlag = False,
) -> int:
    """Save a custom component after showing its access and asking for confirmation. Exit code 3 if it is refused."""
    code = read_text(path)

    async def work(parts: Parts) -> int:
        try:
            proposed = await parts.workshop.propose(acting(), code)
        except ComponentNotMade as error:
            faults = ComponentCheckOut.of_faults(error)
            print_json(faults) if json else show_check(faults, path)
            return INVALID
        if not json:
            show_check(ComponentCheckOut.of(proposed.checked), path)
        if not yes and not typer.confirm(f"Save {proposed.checked.type}?"):
            raise typer.Abort
        saved = await parts.workshop.save(acting(), code, proposed.id)
        print_result(
            {"type": saved.checked.type, "kept": saved.stored, "not_kept": saved.not_kept},
            f"Saved {saved.checked.type}." if saved.stored else escape(saved.not_kept),
            json=json,
        )
        return OK if saved.stored else INVALID

    return with_parts(work)


@app.command(SEARCH)
def components(
    query: Annotated[str, typer.Argument(help="What it should do, or its exact type. Default: all.")] = "",
    own: Annotated[bool, typer.Option("--own", help="Only your custom components.")] = False,
    json: JsonFlag = False,
) -> None:
    """Search components, or describe one by its exact type."""
    if own:
        _own(query, json=json)
        return
    registry = full_registry()
    exact = registry.template(query)
    if exact is not None:
        print_json(exact) if json else _describe(exact)
        return
    hits = component_index(registry).search(query) if query else []
    matches = [registry.template(hit.key) for hit in hits] if query else list(registry.templates())
    templates = [template for template in matches if template is not None]
    _list(templates, json=json)


@on_parts
async def _own(parts: Parts, query: str, *, json: bool) -> None:
    made = await parts.workshop.components.own_components(acting())
    overlay = Overlay(parts.registry, parts.index, made)
    templates = (
        overlay.search(query, most=len(overlay.types())) if query else [component.template for component in made]
    )
    _list([template for template in templates if template.type in overlay.own], json=json)


def _list(templates: Sequence[Template], *, json: bool) -> None:
    if json:
        print_json(
            [
                {"type": template.type, "category": template.category, "description": template.description}
                for template in templates
            ]
        )
        return
    if not templates:
        console.print("No component matches. `headgate components search` lists all.")
        return
    rows = [(template.type, template.category, escape(first_sentence(template.description))) for template in templates]
    console.print(table(("type", "category", "what it does"), rows))


def _describe(template: Template) -> None:
    console.print(f"[bold]{template.type}[/] [dim]{template.category}[/]\n{escape(template.description)}\n")
    rows = []
    for field in template.fields:
        default = "required" if field.required else ("" if field.default in (None, "", [], {}) else field.default)
        accepts = " ".join(type_.value for type_ in field.types)
        rows.append((field.name, field.kind.value, accepts, escape(str(default)), escape(field.help)))
    console.print(table(("input", "kind", "inputs", "default", "what"), rows))
    outputs = [(out.name, out.type.value, escape(out.help)) for out in template.outputs]
    console.print()
    console.print(table(("output", "type", "what"), outputs))
