"""The two SQL forms of appending an entry to its tenant's chain.

The head's row stays locked until the end of the transaction: callers must commit immediately afterwards.
"""

import re
import sqlite3
from typing import Any

from headgate.features.audit.chain import GENESIS, MEMBERS, Entry, link

_COLUMNS = (*MEMBERS, "content_digest")
_HASH = "encode(sha256(convert_to({previous} || {seq} || :content_digest, 'UTF8')), 'hex')"
POSTGRES = f"""
WITH head AS (
    INSERT INTO audit_heads AS h (tenant_id, seq, hash)
    VALUES (:tenant_id, 1, {_HASH.format(previous=f"'{GENESIS}'", seq="'1'")})
    ON CONFLICT (tenant_id) DO UPDATE
    SET seq = h.seq + 1, hash = {_HASH.format(previous="h.hash", seq="(h.seq + 1)::text")}
    RETURNING seq, hash
)
INSERT INTO audit_events (seq, hash, {", ".join(_COLUMNS)})
SELECT head.seq, head.hash, {", ".join(f":{name}" for name in _COLUMNS)} FROM head
"""  # noqa: S608 - own names
"""As one statement. `:name` stands for the members of `values`."""
PSYCOPG = re.sub(r"(?<!:):(\w+)", r"%(\1)s", " ".join(POSTGRES.split()))
"""The same with psycopg's placeholders."""
READ_HEAD = "SELECT seq, hash FROM audit_heads WHERE tenant_id = :tenant_id"
WRITE_HEAD = (
    "INSERT INTO audit_heads (tenant_id, seq, hash) VALUES (:tenant_id, :seq, :hash)"
    " ON CONFLICT (tenant_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash"
)
WRITE_EVENT = (
    f"INSERT INTO audit_events (seq, hash, {', '.join(_COLUMNS)})"  # noqa: S608 - own names
    f" VALUES (:seq, :hash, {', '.join(f':{name}' for name in _COLUMNS)})"
)


def values(entry: Entry) -> dict[str, Any]:
    """Return an entry's values for the statements."""
    return {name: getattr(entry, name) for name in _COLUMNS}


def append(db: sqlite3.Connection, entry: Entry) -> None:
    """Append an entry on a SQLite connection, inside a transaction that holds the write lock."""
    placed = next_place(entry, db.execute(READ_HEAD, {"tenant_id": entry.tenant_id}).fetchone())
    db.execute(WRITE_HEAD, placed)
    db.execute(WRITE_EVENT, placed)


def next_place(entry: Entry, head: Any) -> dict[str, Any]:  # noqa: ANN401 - a row of a driver, or None
    """Return the values of an entry after the given head: a row of seq and hash, or None for the first."""
    seq, previous = (head[0] + 1, head[1]) if head is not None else (1, GENESIS)
    return values(entry) | {"seq": seq, "hash": link(previous, seq, entry.content_digest)}
