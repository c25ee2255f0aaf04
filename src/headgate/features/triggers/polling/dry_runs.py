"""What the next poll of a trigger would start. Nothing is stored, started or marked."""

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.triggers import repository
from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.occurrences import Occurrence
from headgate.features.triggers.poll_settings import Poll, PollConfig
from headgate.features.triggers.polling.cursor import cursor_of
from headgate.features.triggers.polling.poller import Polled, Poller
from headgate.features.triggers.polling.results import Item
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.schemas import PollDryRunOut, PollItemOut
from headgate.features.triggers.service import require
from headgate.features.triggers.views import config_of
from headgate.foundation.database import Database
from headgate.foundation.errors import Forbidden
from headgate.graph.names import clipped

LONGEST_SHOWN = 50_000


async def dry_run(database: Database, poller: Poller, principal: Principal, trigger_id: str) -> PollDryRunOut:
    """Return what the next poll would start.

    It reads with the rights of the owner, so that only the owner sees the result. Raises `TriggerNotFound`,
    `PermissionMissing`, `Forbidden`, `TriggerInvalid`, and what the source refuses.
    """
    async with database.reading() as session:
        listed = await require(session, principal, trigger_id, Permission.TRIGGERS_MANAGE)
    config = config_of(listed.row)
    if not isinstance(config, Poll):
        raise TriggerInvalid("Only a trigger that polls has a dry run.", remedy="Choose another trigger.")
    if listed.row.owner_user_id != principal.user_id:
        raise Forbidden(
            "A dry run reads with the rights of the trigger's owner, so that only the owner sees it.",
            remedy="Change the settings of the trigger: then you are its owner.",
        )
    cursor = cursor_of(listed.row.poll_cursor)
    polled = await poller.read(listed, config, cursor, with_unsettled=True)
    example = None
    if cursor is None and config.first == "now":
        example = await _example(database, poller, listed, config)
    items = await _shown(database, listed, polled)
    return PollDryRunOut(
        items=items,
        more=polled.result.more,
        first=cursor is None,
        example=example,
        waits_for=polled.result.waits_for,
    )


async def _example(database: Database, poller: Poller, listed: Listed, config: PollConfig) -> PollItemOut | None:
    """Return the first item that there is."""
    polled = await poller.read(listed, config.model_copy(update={"first": "all", "most": 1}), None, with_unsettled=True)
    return next(iter(await _shown(database, listed, polled)), None)


async def _shown(database: Database, listed: Listed, polled: Polled) -> list[PollItemOut]:
    pairs = zip(polled.result.items, polled.occurrences, strict=True)
    async with database.reading() as session:
        keys = [occurrence.key for occurrence in polled.occurrences]
        row = listed.row
        existing = await repository.keys_with_rows(session, row.id, keys, tenant_id=row.tenant_id)
    return [_item_out(item, occurrence, occurred=occurrence.key in existing) for item, occurrence in pairs]


def _item_out(item: Item, occurrence: Occurrence, *, occurred: bool) -> PollItemOut:
    return PollItemOut(
        key=occurrence.key,
        text=clipped(occurrence.input.text, LONGEST_SHOWN),
        form_data=occurrence.input.form_data,
        files=[upload.name for upload in item.files],
        occurred=occurred,
        refusal="" if occurrence.refusal is None else str(occurrence.refusal),
    )
