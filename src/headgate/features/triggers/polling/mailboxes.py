"""New mail of a mailbox: read unmarked, and marked as read once its run is stored."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from headgate.components.mail.idling import wait_for_change
from headgate.components.mail.reading import ReadMail, Search, Selection
from headgate.features.triggers.poll_settings import MailConfig
from headgate.features.triggers.polling.context import PollContext
from headgate.features.triggers.polling.cursor import MOST_LISTED, Cursor, fresh_of
from headgate.features.triggers.polling.results import Item, PollResult
from headgate.foundation.extras import require_extra
from headgate.graph.connection_reference import ConnectionReference


async def read_mail(ctx: PollContext, config: MailConfig, cursor: Cursor | None) -> PollResult:
    """Return the new unread mail, the oldest first; the newest thousand unread ones are listed."""
    reader = _reader(ctx, config)
    search = Search(config.sender, config.subject, None, unseen=True, most=MOST_LISTED)
    selection = await reader.selection(search)
    uids = list(reversed(selection.uids))
    names = [f"{selection.validity}:{uid}" for uid in uids]
    new = fresh_of(names, cursor, most=config.most, all_at_first=config.first == "all")
    chosen = tuple(uids[position] for position in new.positions)
    rows = _read_within(await reader.read(Selection(selection.validity, chosen))) if chosen else []
    if len(rows) < len(chosen):  # the others follow in the next poll
        last = len(chosen) if not rows else chosen.index(rows[-1]["uid"]) + 1
        new = fresh_of(names, cursor, most=last, all_at_first=config.first == "all")
    after = new.cursor
    if config.mark_seen:
        marks = (f"{selection.validity}:{row['uid']}" for row in rows if row["complete"])
        after = replace(after, unconfirmed=(*after.unconfirmed, *marks))
    return PollResult(tuple(_item(ctx, selection.validity, row) for row in rows), after, more=new.more)


def _read_within(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows up to the limit of bytes: an incomplete message is large by itself only as the first one."""
    end = next((index for index, row in enumerate(rows) if index and not row["complete"]), len(rows))
    return rows[:end]


async def wait_for_mail(ctx: PollContext, config: MailConfig, known: str, seconds: float) -> str:
    """Return the state of the folder once it is not `known`, or after the time."""
    require_extra("mail", "IDLE")
    connection = await ctx.connection(ConnectionReference(config.connection, ("imap",)))
    return await wait_for_change(connection, config.folder, known, seconds)


async def mark_seen(ctx: PollContext, config: MailConfig, names: Sequence[str]) -> None:
    """Mark mail as read; mail of a mailbox that was numbered again stays."""
    reader = _reader(ctx, config)
    pairs = [name.partition(":")[::2] for name in names]
    validity = pairs[-1][0]
    await reader.mark_read(Selection(validity, ()), [uid for of, uid in pairs if of == validity])


def _reader(ctx: PollContext, config: MailConfig) -> Any:  # noqa: ANN401 - `PollContext.reader`
    return ctx.reader(ReadMail, mailbox=ConnectionReference(config.connection, ("imap",)), folder=config.folder)


def _item(ctx: PollContext, validity: str, row: dict[str, Any]) -> Item:
    files = tuple(ctx.files.contents[file["id"]] for file in row["files"])
    described = [{name: file[name] for name in ("name", "media_type", "size")} for file in row["files"]]
    key = str(row["message_id"] or f"{validity}:{row['uid']}")
    return Item(key, row | {"files": described}, files=files)
