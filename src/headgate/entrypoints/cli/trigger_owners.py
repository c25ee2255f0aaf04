"""`headgate triggers set-owner`."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, print_result
from headgate.entrypoints.cli.session import acting, on_installation
from headgate.entrypoints.cli.trigger_links import TriggerId
from headgate.entrypoints.installation import Installation
from headgate.features.triggers import service
from headgate.features.triggers.schemas import TriggerPatch
from headgate.foundation.ids import is_id
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.features.accounts.users import service as users
else:
    users = lazy_module("headgate.features.accounts.users.service")


@on_installation
async def set_owner(
    installation: Installation,
    trigger: TriggerId,
    who: Annotated[str, typer.Argument(metavar="USER", help="E-mail address, service account or id of the new owner.")],
    json: JsonFlag = False,
) -> None:
    """Let the runs of a trigger have the rights of another user. You may name yourself, administrators any account."""
    async with installation.database.writing() as session:
        user_id = who if is_id(who) else (await users.get_user_named(session, acting(), who)).id
        patch = TriggerPatch(owner_user_id=user_id)
        changed = await service.change_trigger(session, acting(), trigger, patch, box=installation.box)
    print_result(changed, f"{escape(changed.name)} runs as {escape(changed.owner_name or who)}.", json=json)
