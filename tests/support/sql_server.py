"""A server of TDS 7.4, the protocol of SQL Server, for tests: T-SQL is translated by sqlglot and runs on DuckDB.

It is no product of Microsoft: it shows how the client uses the protocol, and not which T-SQL SQL Server accepts.
"""

import re
import select
import socketserver
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from tests.support.sql_server_catalog import CATALOG
from tests.support.sql_server_values import columns_and_rows, parameters

USER, PASSWORD = "shop", "only of these tests"
BATCH, RPC, ATTENTION, TRANSACTION, LOGIN, PRELOGIN = 1, 3, 6, 14, 16, 18
_HEX = re.compile(r"CONVERT\(varbinary\(max\), (@\w+|NULL), 2\)", re.IGNORECASE)
_LENGTHS = re.compile(r"\b(BLOB|TEXT)\((?:MAX|\d+)\)")
_KINDS = {exp.DataType.Type.BIT: exp.DataType.Type.BOOLEAN, exp.DataType.Type.FLOAT: exp.DataType.Type.DOUBLE}
_NUMBERS: dict[type[duckdb.Error], int] = {
    duckdb.CatalogException: 208,
    duckdb.BinderException: 207,
    duckdb.ParserException: 102,
}
_NUMBERS |= {duckdb.ConstraintException: 2627}
Answer = Callable[["Session"], bytes]


@dataclass
class SqlServer:
    """A server whose database is in memory.

    Args:
        tls: Context of TLS; None: the server does not encrypt.
        requires_tls: Whether it answers clients that do not encrypt.
        answers: Tokens of an answer, by a part of the statement; `login` instead of signing in.
    """

    tls: ssl.SSLContext | None = None
    requires_tls: bool = False
    answers: dict[str, Answer] = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)
    """What clients ran, and `ATTENTION`, `BEGIN`, `COMMIT`, `ROLLBACK`, in this order."""
    logins: list[dict[str, str]] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    rights: list[str] = field(default_factory=lambda: ["CONNECT", "SELECT", "VIEW ANY COLUMN MASTER KEY DEFINITION"])
    port: int = 0

    def __post_init__(self) -> None:
        self.database = duckdb.connect(":memory:")
        self.database.execute(CATALOG)

    def sql(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run T-SQL past the protocol; the rows of the last."""
        with self.database.cursor() as cursor:
            cursor.execute("SET schema = 'dbo'")
            return [cursor.execute(translated(statement)).fetchall() for statement in statements][-1]


@contextmanager
def sql_server(**options: Any) -> Iterator[SqlServer]:
    """A server on loopback, that stops at the end."""
    state = SqlServer(**options)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError, EOFError, ssl.SSLError):
                Session(state, self.request).serve()

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        state.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()


class Session:
    """A connection of one client."""

    def __init__(self, server: SqlServer, stream: Any) -> None:
        self.server, self.stream = server, stream
        self._tls: ssl.SSLObject | None = None
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._cursor = server.database.cursor()
        self._cursor.execute("SET schema = 'dbo'")

    def serve(self) -> None:
        """Answer until the client leaves."""
        self._prelogin()
        if not self._sign_in():
            return
        while True:
            kind, content = self.receive()
            if kind == ATTENTION:
                self.server.statements.append("ATTENTION")
                self.send(done(0x20))
            elif kind == TRANSACTION:
                self.send(self._transaction(content[22:]))
            else:
                sql, values = parameters(content[22:]) if kind == RPC else (content[22:].decode("utf-16-le"), {})
                self.server.statements.append(sql)
                self.send(self._answer(sql, values))

    def receive(self) -> tuple[int, bytes]:
        """Return the kind and content of the next message."""
        message = b""
        while True:
            kind, status, length = struct.unpack(">BBH4x", self._exactly(8))
            message += self._exactly(length - 8)
            if status & 1:
                return kind, message

    def send(self, tokens: bytes, kind: int = 4, *, last: bool = True) -> None:
        """Send tokens in packets of 4 KB."""
        pieces = [tokens[begin : begin + 4088] for begin in range(0, len(tokens), 4088)] or [b""]
        for index, piece in enumerate(pieces):
            end = last and index == len(pieces) - 1
            self.raw(struct.pack(">BBHHBB", kind, end, len(piece) + 8, 55, 1, 0) + piece)

    def raw(self, content: bytes) -> None:
        """Send bytes."""
        if self._tls is not None:
            self._tls.write(content)
            content = self._outgoing.read()
        self.stream.sendall(content)

    def _exactly(self, size: int) -> bytes:
        content = b""
        while len(content) < size:
            more = self._some(size - len(content))
            if not more:
                raise EOFError
            content += more
        return content

    def _some(self, size: int) -> bytes:
        while self._tls is not None:
            try:
                return self._tls.read(size)
            except ssl.SSLWantReadError:
                more = self.stream.recv(65_536)
                if not more:
                    raise EOFError from None
                self._incoming.write(more)
        received: bytes = self.stream.recv(size)
        return received

    def _prelogin(self) -> None:
        _, content = self.receive()
        offset = struct.unpack_from(">BHH", content, 5)[1]
        wanted = content[offset] in {1, 3}
        answer = 2 if self.server.tls is None else 1 if wanted else 3 if self.server.requires_tls else 2
        self.send(struct.pack(">BHHBHHB", 0, 11, 6, 1, 17, 1, 0xFF) + bytes(6) + bytes([answer]))
        self.server.encrypted.append(answer == 1)
        if answer != 1 or self.server.tls is None:
            return
        tls = self.server.tls.wrap_bio(self._incoming, self._outgoing, server_side=True)
        while True:
            try:
                tls.do_handshake()
                ready = True
            except ssl.SSLWantReadError:
                ready = False
            if self._outgoing.pending:
                self.send(self._outgoing.read(), PRELOGIN)
            if ready:
                self._tls = tls
                return
            self._incoming.write(self.receive()[1])

    def _sign_in(self) -> bool:
        _, content = self.receive()
        places = struct.unpack_from("<18H", content, 36)
        names = ("host", "user", "password", "app", "server", "extension", "library", "language", "database")
        login = {}
        for name, place, length in zip(names, places[::2], places[1::2], strict=True):
            text = content[place : place + 2 * length]
            if name == "password":
                text = bytes(((byte ^ 0xA5) >> 4 | (byte ^ 0xA5) << 4) & 0xFF for byte in text)
            login[name] = text.decode("utf-16-le")
        self.server.logins.append(login)
        if "login" in self.server.answers:
            self.send(self.server.answers["login"](self))
            return True
        if (login["user"], login["password"]) != (USER, PASSWORD):
            self.send(error(18456, f"Login failed for user '{login['user']}'.", severity=14) + done(2))
            return False
        self.send(environment(1, login["database"], "master") + ACCEPTED + environment(4, "4096", "4096") + done())
        return True

    def _transaction(self, content: bytes) -> bytes:
        (request,) = struct.unpack_from("<H", content)
        name = {5: "BEGIN", 7: "COMMIT", 8: "ROLLBACK"}[request]
        self.server.statements.append(name)
        try:
            self._cursor.execute(name)
        except duckdb.Error as failure:
            return error(50_000, str(failure)) + done(2)
        token = {5: b"\x08\x08\x01\0\0\0\0\0\0\0\0", 7: b"\x09\0\0", 8: b"\x0a\0\0"}[request]
        begun = b""
        if request != 5 and content[3] & 1:
            self._cursor.execute("BEGIN")
            begun = _environment(b"\x08\x08\x01\0\0\0\0\0\0\0\0")
        return _environment(token) + begun + done()

    def _answer(self, sql: str, values: dict[str, Any]) -> bytes:
        for part, answer in self.server.answers.items():
            if part in sql:
                return answer(self)
        if "fn_my_permissions" in sql:
            return rows(["permission_name"], ["VARCHAR"], [(right,) for right in self.server.rights]) + done()
        if sql.upper().startswith("SET "):
            return done()
        outcome: list[bytes] = []
        worker = threading.Thread(target=lambda: outcome.append(self._run(sql, values)), daemon=True)
        worker.start()
        while True:
            worker.join(0.02)
            if not worker.is_alive():
                return outcome[0]
            if select.select([self.stream], [], [], 0)[0]:
                with suppress(OSError, EOFError):
                    self.receive()
                self.server.statements.append("ATTENTION")
                self._cursor.interrupt()
                worker.join()
                return done(0x20)

    def _run(self, sql: str, values: dict[str, Any]) -> bytes:
        tokens, end = b"", 0xFF if values else 0xFD
        try:
            for statement in translated(sql, many=True):
                used = {name: value for name, value in values.items() if f"${name}" in statement}
                self._cursor.execute(statement, used)
                names = [column[0] for column in self._cursor.description or []]
                kinds = [str(column[1]) for column in self._cursor.description or []]
                found = self._cursor.fetchall()
                if statement.startswith(("SELECT", "WITH")):
                    tokens += rows(names, kinds, found) + done(0x11, len(found), end)
                else:
                    tokens += done(0x11, found[0][0] if names == ["Count"] else 0, end)
        except (duckdb.Error, sqlglot.errors.SqlglotError) as failure:
            if isinstance(failure, duckdb.Error):  # it ended the transaction; SQL Server does with XACT_ABORT only
                with suppress(duckdb.Error):
                    self._cursor.execute("ROLLBACK")
                self._cursor.execute("BEGIN")
            number = next((number for kind, number in _NUMBERS.items() if isinstance(failure, kind)), 102)
            return tokens + error(number, str(failure).splitlines()[0]) + done(2, kind=0xFE if values else 0xFD)
        return tokens + (b"\x79\0\0\0\0" + done(kind=0xFE) if values else done())


def translated(sql: str, *, many: bool = False) -> Any:
    """Return T-SQL as SQL of DuckDB; a list with `many`."""
    parsed = sqlglot.parse(_HEX.sub(r"UNHEX(\1)", sql), read="tsql")
    texts = []
    for statement in parsed:
        if statement is None:
            continue
        plain = statement.transform(_as_duckdb)
        texts.append(_LENGTHS.sub(r"\1", plain.sql(dialect="duckdb")))
    return texts if many else "; ".join(texts)


def _as_duckdb(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.National):
        return exp.Literal.string(node.this)
    if isinstance(node, exp.DataType) and node.this in _KINDS:
        return exp.DataType.build(_KINDS[node.this])
    return node


def rows(names: Sequence[str], kinds: Sequence[str], found: Sequence[Sequence[Any]]) -> bytes:
    """COLMETADATA and ROW tokens."""
    return columns_and_rows(names, kinds, found)


def done(status: int = 0, count: int = 0, kind: int = 0xFD) -> bytes:
    """A DONE token (0xFD), of a procedure (0xFE) or in it (0xFF)."""
    return struct.pack("<BHHQ", kind, status, 0xC1, count)


def error(number: int, message: str, *, severity: int = 16) -> bytes:
    """An ERROR token."""
    text = message[:2000]
    body = struct.pack("<IBBH", number, 1, severity, len(text)) + text.encode("utf-16-le") + b"\0\0" + bytes(4)
    return b"\xaa" + struct.pack("<H", len(body)) + body


def environment(kind: int, new: str, old: str) -> bytes:
    """An ENVCHANGE token with texts."""
    texts = b"".join(bytes([len(text)]) + text.encode("utf-16-le") for text in (new, old))
    return _environment(bytes([kind]) + texts)


def redirect(host: str, port: int) -> bytes:
    """An ENVCHANGE token that leads to another server."""
    value = struct.pack("<BHH", 0, port, len(host)) + host.encode("utf-16-le")
    return _environment(b"\x14" + struct.pack("<H", len(value)) + value + b"\0\0")


def _environment(body: bytes) -> bytes:
    return b"\xe3" + struct.pack("<H", len(body)) + body


_PRODUCT = "Test server".encode("utf-16-le")
ACCEPTED = (
    b"\xad"
    + struct.pack("<HB", 10 + len(_PRODUCT), 1)
    + b"\x74\0\0\x04"
    + bytes([len(_PRODUCT) // 2])
    + _PRODUCT
    + b"\x10\0\0\0"
)
"""A LOGINACK token of SQL Server 2022."""
