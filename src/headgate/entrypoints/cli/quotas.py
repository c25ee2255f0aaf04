"""`headgate quotas`."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_rows, when
from headgate.entrypoints.cli.session import acting, on_installation, with_reading
from headgate.entrypoints.installation import Installation
from headgate.features.accounts.spaces.service import get_space, get_space_named
from headgate.features.runs.quotas.bounds import SECOND, Quota, Scope
from headgate.features.runs.quotas.service import Quotas, Usage
from headgate.foundation.ids import is_id

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Limits of the organisation, its spaces and visitors."
)
_WHO = {Scope.TENANT: "organisation", Scope.SPACE: "every space", Scope.VISITOR: "each visitor"}


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """List limits and their usage."""
    usages = with_reading(lambda session, installation: _quotas(installation).list_usage(session, acting()))
    print_rows(
        [asdict(usage) for usage in usages],
        ("of", "limit", "used", "at most", "free again"),
        [
            (escape(_who(usage)), usage.quota, _amount(usage.used, ""), _amount(usage.most, "no limit"), _resets(usage))
            for usage in usages
        ],
        json=json,
    )


@app.command("set")
@on_installation
async def set_(
    installation: Installation,
    scope: Annotated[Scope, typer.Argument(help="Scope of the limit.")],
    quota: Annotated[Quota, typer.Argument(help="What is limited.")],
    most: Annotated[int | None, typer.Argument(min=0, help="The limit. Omit to remove it.")] = None,
    space: Annotated[str, typer.Option("--space", help="Id or name of a space. Default: all spaces.")] = "",
    json: JsonFlag = False,
) -> None:
    """Set or remove a limit. The server settings HEADGATE_QUOTAS__* are the upper bounds."""
    async with installation.database.writing() as session:
        find = get_space if is_id(space) else get_space_named
        space_id = (await find(session, acting(), space)).id if space else None
        await _quotas(installation).set_limit(
            session, acting(), scope=scope, space_id=space_id, quota=quota, limit=most
        )
    if json:
        print_json({"scope": scope, "space_id": space_id, "quota": quota, "most": most})
        return
    of = space or _WHO[scope]
    console.print(f"{escape(of)}, {quota}: {_amount(most, 'no limit set')}.")


def _quotas(installation: Installation) -> Quotas:
    return Quotas(installation.database, installation.settings.quotas)


def _who(usage: Usage) -> str:
    return usage.space_name if usage.space_name is not None else _WHO[usage.scope]


def _amount(amount: int | None, without: str) -> str:
    return without if amount is None else f"{amount:,}"


def _resets(usage: Usage) -> str:
    return "" if usage.resets_at is None else when(datetime.fromtimestamp(usage.resets_at / SECOND, UTC))
