"""New mail of a mailbox: read unmarked, and marked as read once its run is stored."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from headgate.components.mail.idling import wait_for_change
from headgate.components.mail.reading import ReadMail, Search, Selection
from headgate.features.triggers.poll_settings import MailConfig
from headgate.features.triggers.polling.context import PollContext
from headgate.features.triggers.polling.cursor import MOST_LISTED, Cursor
from headgate.features.triggers.polling.results import Item, PollResult
from headgate.foundation.extras import require_extra
from headgate.graph.connection_reference import ConnectionReference


async def read_mail(ctx: PollContext, config: MailConfig, cursor: Cursor | None) -> PollResult:
    """Return the new unread mail, the oldest first.

    A server numbers the messages of a folder in the order in which it has them (RFC 3501, 2.3.1.1), so the cursor is
    the highest number that was handled: however many messages wait, none is missed. When the server has numbered them
    again, all unread ones are new.
    """
    reader = _reader(ctx, config)

    async def search(above: int | None, most: int) -> Selection:
        which = Search(config.sender, config.subject, None, unseen=True, most=most, above=above)
        return cast("Selection", await reader.selection(which))

    if cursor is None and config.first == "now":
        selection = await search(None, 1)
        return PollResult((), _after(Cursor(), selection.validity, selection.uids))
    handled = cast("dict[str, Any]", (cursor and cursor.value) or {"validity": "", "uid": 0})
    selection = await search(handled["uid"], MOST_LISTED)
    if selection.validity != handled["validity"] and handled["uid"]:
        selection = await search(0, MOST_LISTED)
    chosen = selection.uids[: config.most]
    rows = _read_within(await reader.read(replace(selection, uids=chosen))) if chosen else []
    if 0 < len(rows) < len(chosen):  # the others follow in the next poll
        chosen = chosen[: chosen.index(str(rows[-1]["uid"])) + 1]
    after = _after(cursor or Cursor(), selection.validity, chosen or (str(handled["uid"]),))
    if config.mark_seen:
        marks = (f"{selection.validity}:{row['uid']}" for row in rows if row["complete"])
        after = replace(after, unconfirmed=(*after.unconfirmed, *marks))
    items = tuple(_item(ctx, selection.validity, row) for row in rows)
    return PollResult(items, after, more=len(selection.uids) > len(chosen))


def _after(cursor: Cursor, validity: str, uids: Sequence[str]) -> Cursor:
    """Return the cursor after messages."""
    return replace(cursor, value={"validity": validity, "uid": int(uids[-1]) if uids else 0})


def _read_within(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows up to the limit of bytes: an incomplete message is large by itself only as the first one."""
    too_large = (index for index, row in enumerate(rows) if index and not row["complete"] and "problem" not in row)
    return rows[: next(too_large, len(rows))]


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
    if "problem" in row:
        return Item(key, None, refusal=row["problem"])
    return Item(key, row | {"files": described}, files=files)
