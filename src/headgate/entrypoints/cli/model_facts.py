"""`headgate models describe`, `hide` and `reset`."""

from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, print_result
from headgate.entrypoints.cli.session import acting, on_installation, with_writing
from headgate.entrypoints.installation import Installation
from headgate.features.models.errors import BadModelSettings
from headgate.features.models.setup import service
from headgate.features.models.setup.values import ModelFacts

ModelArgument = Annotated[str, typer.Argument(help="provider/name or server/name.")]


@on_installation
async def describe(
    installation: Installation,
    model: ModelArgument,
    label: Annotated[str | None, typer.Option(help="Name shown to users.")] = None,
    description: Annotated[str | None, typer.Option(help="Purpose.")] = None,
    price_in: Annotated[float | None, typer.Option(help="Price in US dollars per million prompt tokens.")] = None,
    price_out: Annotated[float | None, typer.Option(help="Price in US dollars per million completion tokens.")] = None,
    context_window: Annotated[int | None, typer.Option(help="Maximum prompt length in tokens.")] = None,
    max_concurrent: Annotated[
        int | None, typer.Option(help="Steps of flows that may call it at the same time; others wait.")
    ] = None,
    hidden: Annotated[bool, typer.Option("--hide/--show", help="Hide the model from lists.")] = False,
    json: JsonFlag = False,
) -> None:
    """Add, describe, price or hide a model. Replaces the previous description."""
    provider, name = _parts_of(model)
    facts = ModelFacts(
        label=label,
        description=description,
        price_in=price_in,
        price_out=price_out,
        context_window=context_window,
        max_concurrent=max_concurrent,
        hidden=hidden,
    )
    keys = installation.keys_of(acting(), "models")
    async with installation.database.writing() as session:
        row = await service.put_facts(session, acting(), keys, provider=provider, name=name, facts=facts)
        stored = {"provider": row.provider, "name": row.name, **row.facts}
    print_result(stored, f"{escape(model)} is {'hidden' if hidden else 'described'}.", json=json)


def reset(model: ModelArgument, json: JsonFlag = False) -> None:
    """Reset a model to its catalogue entry; remove it if it was added."""
    provider, name = _parts_of(model)

    with_writing(lambda session, _: service.delete_facts(session, acting(), provider=provider, name=name))
    print_result({"reset": model}, f"{escape(model)} was reset to its catalogue entry.", json=json)


def _parts_of(model: str) -> tuple[str, str]:
    provider, slash, name = model.partition("/")
    if not slash or not provider or not name:
        raise BadModelSettings(f"'{model}' is not a model.", remedy="Write provider/name or server/name.")
    return provider, name
