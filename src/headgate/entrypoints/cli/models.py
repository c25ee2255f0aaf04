"""`headgate models`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from headgate.entrypoints.cli import model_classes, model_facts, model_roles, model_servers
from headgate.entrypoints.cli.output import JsonFlag, console, errors, print_json, print_result, print_rows, table
from headgate.entrypoints.cli.session import acting, on_installation
from headgate.entrypoints.installation import Installation
from headgate.features.models import service
from headgate.features.models.catalogue import ModelInfo
from headgate.features.models.local.pull import pull as pull_weights
from headgate.features.models.local.sources import sources_of
from headgate.features.models.local.store import default_models_dir, list_local, use_file
from headgate.features.models.local.weights import find_weights
from headgate.foundation.settings import Settings

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Providers, models and local models.")
app.add_typer(model_classes.app, name="classes")
app.add_typer(model_servers.app, name="servers")
app.add_typer(model_roles.app, name="roles")
app.command("describe")(model_facts.describe)
app.command("reset")(model_facts.reset)


@app.command()
@on_installation
async def providers(installation: Installation, json: JsonFlag = False) -> None:
    """Show which providers are ready, and what the others need."""
    states = await service.list_providers(installation.keys_of(acting(), "models"), local=installation.local_models)
    if json:
        print_json(states)
        return
    rows = [
        (provider.label, "[green]ready[/]" if provider.configured else "[dim]no[/]", provider.default_model or "")
        for provider in states
    ]
    console.print(table(("provider", "ready", "default model"), rows))
    for provider in states:
        if not provider.configured:
            console.print(f"\n[bold]{escape(provider.label)}[/] {escape(provider.reason)}\n  {escape(provider.remedy)}")


@app.command("list")
@on_installation
async def list_(
    installation: Installation,
    provider: Annotated[str | None, typer.Argument(help="Only models of this provider.")] = None,
    json: JsonFlag = False,
) -> None:
    """List the chat models of each provider, from its server if possible."""
    models = await service.all_models(
        installation.keys_of(acting(), "models"), local=installation.local_models, provider=provider
    )
    print_rows(
        models,
        ("model", "can", "context (tokens)"),
        [(f"{model.provider}/{model.name}", _abilities(model), _thousands(model.context_window)) for model in models],
        json=json,
    )


def _abilities(model: ModelInfo) -> str:
    can = (("tools", model.tools != "none"), ("vision", model.vision), ("audio", model.audio))
    return " ".join(word for word, has in can if has)


def _thousands(count: int | None) -> str:
    return f"{count:,}" if count else ""


@app.command()
def pull(
    name: Annotated[str, typer.Argument(help="Name of a local model, for example qwen2.5-coder-1.5b.")],
    json: JsonFlag = False,
) -> None:
    """Download a local model, verified by SHA-256. An interrupted download is resumed."""
    find_weights(name)  # before a bar is drawn for an unknown model
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=errors, disable=json) as bar:
        settings = Settings()
        task = bar.add_task(name, total=None)
        weights = pull_weights(
            name,
            default_models_dir(),
            progress=lambda done, total: bar.update(task, completed=done, total=total),
            report=lambda line: bar.console.print(escape(line)) if not json else None,
            sources=sources_of(settings.models.mirror, settings.outgoing),
        )
    print_result(
        {"name": weights.name, "path": str(weights.path), "size": weights.size},
        f"Ready: local/{weights.name} at {weights.path}",
        json=json,
    )


@app.command()
def use(
    path: Annotated[Path, typer.Argument(help="Path of a GGUF file.")],
    name: Annotated[str, typer.Argument(help="Name of the model.")],
    json: JsonFlag = False,
) -> None:
    """Make a GGUF file available as local/NAME."""
    weights = use_file(default_models_dir(), path, name)
    print_result({"name": weights.name, "path": str(weights.path)}, f"Ready: local/{weights.name}", json=json)


@app.command()
def local(json: JsonFlag = False) -> None:
    """List downloaded local models and those that can be pulled."""
    weights = list_local(default_models_dir())
    print_rows(
        [
            {"name": model.name, "use": model.use, "size": model.size, "path": str(model.path) if model.path else None}
            for model in weights
        ],
        ("name", "model", "use", "size", "state"),
        [
            (
                model.name,
                model.label,
                model.use,
                f"{model.size / 1e6:,.0f} MB",
                "ready" if model.ready else "can be pulled",
            )
            for model in weights
        ],
        json=json,
    )
