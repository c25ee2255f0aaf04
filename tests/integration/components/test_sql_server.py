"""What SQL Server has of its own: TLS inside its protocol, redirections, identity columns, no read-only transaction.

The client library is the real one, the server is `tests/support/sql_server.py`.
"""

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
import sqlalchemy as sa
from pydantic import JsonValue

from headgate.components.sockets import checked_endpoint
from headgate.components.sql import sql_server as client
from headgate.components.sql.databases import opened_database
from headgate.foundation.errors import Forbidden, HeadgateError, UpstreamFailed
from headgate.foundation.extras import EXTRAS, ExtraNotInstalled
from headgate.sdk import ComponentError
from headgate.sdk.testing import StepHarness
from tests.integration.components.test_sql import Shop
from tests.support.certificates import tls_pair
from tests.support.sql_server import (
    ACCEPTED,
    PASSWORD,
    Session,
    SqlServer,
    done,
    environment,
    error,
    redirect,
    rows,
    sql_server,
)

TABLE = "CREATE TABLE customer (id int NOT NULL PRIMARY KEY, name nvarchar(80) NOT NULL)"


@pytest.fixture
def server() -> Iterator[SqlServer]:
    with sql_server() as running:
        running.sql(TABLE, "INSERT INTO customer VALUES (1, 'Åsa'), (2, 'Bo')")
        yield running


def shop_of(server: SqlServer, *, host: str = "127.0.0.1", password: str = PASSWORD, **fields: JsonValue) -> Shop:
    """A harness with a connection to the server, which does not encrypt unless the fields say so."""
    values: dict[str, JsonValue] = {"dialect": "sqlserver", "host": host, "port": server.port, "database": "shop"}
    shop = Shop(StepHarness(), "")
    shop.harness.connect(
        "shop", "sql", values | {"user": "shop", "tls": "off"} | fields, secrets={"password": password}
    )
    return shop


@contextmanager
def encrypted(folder: Path, monkeypatch: pytest.MonkeyPatch, *, host: str = "127.0.0.1") -> Iterator[SqlServer]:
    """A server with a certificate for localhost that the client trusts."""
    context, trusting = tls_pair(folder, "localhost")
    with sql_server(tls=context, requires_tls=True) as running:
        running.sql(TABLE)
        monkeypatch.setattr(ssl, "create_default_context", lambda: trusting)
        yield running


class TestEncryption:
    async def test_is_checked_by_default(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with encrypted(tmp_path, monkeypatch) as server:
            shop = shop_of(server, host="localhost", tls="verify")
            await shop.write([{"id": 1, "name": "x" * 20_000}], table="customer")
            found = await shop.query("SELECT name FROM customer")
        assert found.rows == [["x" * 20_000]]
        assert server.encrypted == [True, True]
        assert server.logins[0]["user"] == "shop"
        assert server.logins[0]["host"] == "headgate", "the name of the machine is not sent"

    async def test_of_another_name_gets_no_password(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with encrypted(tmp_path, monkeypatch) as server:
            with pytest.raises(UpstreamFailed, match=r"encryption failed.*IP address mismatch"):
                await shop_of(server, tls="verify").query("SELECT 1 AS one")
            assert server.logins == []

    async def test_of_an_unknown_authority_gets_no_password(self, tmp_path: Path) -> None:
        context, _ = tls_pair(tmp_path, "localhost")
        with sql_server(tls=context) as server:
            with pytest.raises(UpstreamFailed, match="self-signed certificate"):
                await shop_of(server, host="localhost", tls="verify").query("SELECT 1 AS one")
            assert server.logins == []
            assert (await shop_of(server, tls="require").query("SELECT 1 AS one")).rows == [[1]]
            assert server.encrypted[-1] is True

    @pytest.mark.parametrize("mode", ["verify", "require"])
    async def test_that_the_server_refuses_is_an_error(self, server: SqlServer, mode: str) -> None:
        with pytest.raises(UpstreamFailed, match="refuses encryption"):
            await shop_of(server, tls=mode).query("SELECT 1 AS one")
        assert server.logins == []

    async def test_that_the_server_requires_is_not_left_out(self, tmp_path: Path) -> None:
        context, _ = tls_pair(tmp_path, "localhost")
        with sql_server(tls=context, requires_tls=True) as server:
            with pytest.raises(UpstreamFailed, match="requires encryption"):
                await shop_of(server, tls="off").query("SELECT 1 AS one")
            assert server.logins == []


class TestSignIn:
    async def test_with_a_wrong_password_is_refused(self, server: SqlServer) -> None:
        with pytest.raises(UpstreamFailed, match="Login failed for user 'shop'") as caught:
            await shop_of(server, password="wrong-secret").query("SELECT 1 AS one")
        assert "wrong-secret" not in str(caught.value)

    async def test_follows_no_redirection(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as inside, sql_server() as server:
            inside.settimeout(0.2)
            port = inside.getsockname()[1]
            server.answers["login"] = lambda _: ACCEPTED + redirect("127.0.0.1", port) + done()
            with pytest.raises(UpstreamFailed, match=f"redirects to 127.0.0.1:{port}, which is not followed"):
                await shop_of(server).query("SELECT 1 AS one")
            with pytest.raises(TimeoutError):
                inside.accept()

    async def test_reaches_no_other_server(self, server: SqlServer) -> None:
        fields: dict[str, JsonValue] = {"dialect": "sqlserver", "host": "10.0.0.1", "port": server.port, "tls": "off"}
        shop = Shop(StepHarness(), "")
        shop.harness.connect("shop", "sql", fields, hosts=["db.example.org:1433"])
        with pytest.raises(Forbidden):
            await shop.query("SELECT 1 AS one")
        assert server.encrypted == []

    async def test_accepts_no_huge_packets(self) -> None:
        with sql_server() as server:
            server.answers["login"] = lambda _: ACCEPTED + environment(4, "2000000000", "4096") + done()
            with pytest.raises(UpstreamFailed, match="does not follow the protocol"):
                await shop_of(server).query("SELECT 1 AS one")


class TestValues:
    async def test_have_the_types_of_tables(self, server: SqlServer) -> None:
        server.sql(
            "CREATE TABLE kinds (big bigint, ok bit, ratio float, price decimal(12, 4), at datetime2, "
            "zoned datetimeoffset, clock time, guid uniqueidentifier, raw varbinary(20), "
            "note nvarchar(max), empty nvarchar(9))",
            "INSERT INTO kinds VALUES (9007199254740993, 1, 0.5, -12.3400, '2026-01-31 10:20:30.123456', "
            "'2026-01-31 10:20:30+00:00', '10:20:30.5', '01234567-89ab-cdef-0123-456789abcdef', UNHEX('00ff10'), "
            "'漢\U0001f600', NULL)",
        )
        found = await shop_of(server).query("SELECT * FROM kinds")
        zoned = "2026-01-31T11:20:30+01:00"
        at, guid = "2026-01-31T10:20:30.123456", "01234567-89ab-cdef-0123-456789abcdef"
        assert found.rows == [
            [9007199254740993, True, 0.5, -12.34, at, zoned, "10:20:30.500000", guid, "00ff10", "漢\U0001f600", None]
        ]

    async def test_are_written_as_they_are_read(self, server: SqlServer) -> None:
        server.sql(
            "CREATE TABLE kinds (id int PRIMARY KEY, at date, guid uniqueidentifier, raw varbinary(20), n float)"
        )
        written: list[dict[str, JsonValue]] = [
            {"id": 1, "at": "2026-01-31", "guid": "01234567-89ab-cdef-0123-456789abcdef", "raw": "00ff10", "n": 0.1},
            {"id": 2, "at": None, "guid": None, "raw": None, "n": None},
        ]
        shop = shop_of(server)
        await shop.write(written, table="kinds")
        await shop.write(written, table="dbo.kinds", mode="upsert")
        assert (await shop.query("SELECT * FROM kinds ORDER BY id")).records() == written

    async def test_that_no_column_can_have_are_refused(self, server: SqlServer) -> None:
        with pytest.raises(ComponentError, match="refused the statement"):
            await shop_of(server).write([{"id": 1, "name": {"a": 1}}], table="customer")


class TestWrites:
    async def test_of_upsert_lock_the_key(self, server: SqlServer) -> None:
        await shop_of(server).write([{"id": 1, "name": "Eva"}], table="customer", mode="upsert")
        merge = next(sql for sql in server.statements if sql.startswith("MERGE"))
        assert merge == (
            "MERGE INTO customer WITH (HOLDLOCK) AS target USING (SELECT 1 AS one) AS source ON target.id = @P1 "
            "WHEN MATCHED THEN UPDATE SET name = @P2 WHEN NOT MATCHED THEN INSERT (id, name) VALUES (@P1, @P2);"
        )
        assert "COMMIT" in server.statements

    async def test_number_rows_of_an_identity_column_themselves(self, server: SqlServer) -> None:
        server.sql("INSERT INTO sys.numbered VALUES ('customer', 'id')")
        await shop_of(server).write([{"id": 7, "name": "x"}], table="customer")
        begin = server.statements.index("SET IDENTITY_INSERT customer ON")
        assert server.statements[begin + 2] == "SET IDENTITY_INSERT customer OFF"
        server.statements.clear()
        server.sql(
            "CREATE TABLE log (id int DEFAULT 5, name nvarchar(9))", "INSERT INTO sys.numbered VALUES ('log', 'id')"
        )
        await shop_of(server).write([{"name": "x"}], table="log")
        assert not any("IDENTITY" in sql for sql in server.statements)

    async def test_quote_names_of_the_database(self, server: SqlServer) -> None:
        server.sql('CREATE TABLE "od]d -- :x" (id int PRIMARY KEY, "50%; DROP" nvarchar(9))')
        rows_: list[dict[str, JsonValue]] = [{"id": 1, "50%; DROP": "a"}]
        for mode in ("insert", "upsert"):
            await shop_of(server).write(rows_, table="od]d -- :x", mode=mode)
        assert server.sql('SELECT * FROM "od]d -- :x"') == [(1, "a")]

    async def test_report_an_error_after_a_first_count(self, server: SqlServer) -> None:
        late = done(0x11, 1, 0xFF) + error(50_000, "The trigger refuses it.") + done(2, kind=0xFE)
        server.answers["UPDATE customer"] = lambda _: late
        with pytest.raises(ComponentError, match="The trigger refuses it"):
            await shop_of(server).write(
                [{"id": 1}], mode="statement", sql="UPDATE customer SET name = 'x' WHERE id = :id"
            )
        assert "COMMIT" not in server.statements

    async def test_count_the_rows_of_statements(self, server: SqlServer) -> None:
        sql = "UPDATE customer SET name = :name WHERE id <= :id"
        changes: list[dict[str, JsonValue]] = [{"id": 2, "name": "a"}, {"id": 0, "name": "b"}, {"id": 1, "name": "c"}]
        assert await shop_of(server).write(changes, mode="statement", sql=sql) == {"rows": 3}
        assert server.sql("SELECT name FROM customer ORDER BY id") == [("c",), ("a",)]


class TestReads:
    async def test_are_rolled_back_whatever_ran(self, server: SqlServer) -> None:
        shop = shop_of(server)
        connection = shop.harness.ctx.connections["shop"]
        endpoint = await checked_endpoint(connection)
        with opened_database(connection, endpoint, seconds=5, read_only=True, subject="x") as database:
            database.execute(sa.text("DELETE FROM customer"))
        assert server.sql("SELECT count(*) FROM customer") == [(2,)]

    async def test_send_no_comments(self, server: SqlServer) -> None:
        await shop_of(server).query("SELECT 1 AS one -- it's 'one'\n, 2 AS /* DELETE */ two")
        assert "SELECT 1 AS one  \n, 2 AS   two" in server.statements

    async def test_stop_at_the_limit_of_rows(self, server: SqlServer) -> None:
        server.sql("CREATE TABLE many AS SELECT range AS n FROM range(5000)")
        with pytest.raises(ComponentError, match="more than 10 rows"):
            await shop_of(server).query("SELECT n FROM many", most_rows=10)
        assert "ATTENTION" in server.statements


def forever(make: Callable[[], bytes]) -> Callable[[Session], bytes]:
    """An answer that has no end."""

    def answer(session: Session) -> bytes:
        session.send(rows(["a"], ["VARCHAR"], []), last=False)
        while True:
            session.send(make(), last=False)

    return answer


def wait(session: Session) -> bytes:
    """No answer until the client cancels."""
    session.server.statements.append("WAITED" if session.receive()[0] == 6 else "LEFT")
    return done(0x20)


def trickle(session: Session) -> bytes:
    """An answer that never ends, and is never late."""
    session.send(rows(["a"], ["VARCHAR"], []), last=False)
    with suppress(OSError):
        while not threading.Event().wait(0.05):
            session.send(b"\xd1" + b"\xff" * 8, last=False)
    session.server.statements.append("LEFT")
    return b""


class TestHostileServer:
    @pytest.mark.parametrize("answer", [wait, trickle])
    async def test_that_does_not_end_is_left_after_the_time(
        self, server: SqlServer, answer: Callable[[Session], bytes]
    ) -> None:
        server.answers["SELECT a"] = answer
        with pytest.raises(ComponentError, match="took too long and was stopped"):
            await shop_of(server).query("SELECT a FROM b", timeout_seconds=1)
        for _ in range(100):
            if {"WAITED", "LEFT"} & set(server.statements):
                return
            threading.Event().wait(0.05)
        pytest.fail(f"the server was not left: {server.statements}")

    async def test_that_sends_endless_rows_is_stopped(self, server: SqlServer) -> None:
        server.answers["SELECT a"] = forever(lambda: (b"\xd1" + b"\xff" * 8) * 400)
        with pytest.raises(ComponentError, match="more than 10 rows"):
            await shop_of(server).query("SELECT a FROM b", most_rows=10, timeout_seconds=2)

    async def test_that_sends_an_endless_value_is_stopped(
        self, server: SqlServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(client, "MOST_ANSWER_BYTES", 3_000_000)
        chunk = struct.pack("<I", 4000) + b"a" * 4000
        parts = iter([b"\xd1\xfe" + b"\xff" * 7])
        server.answers["SELECT a"] = forever(lambda: next(parts, chunk))
        with pytest.raises(UpstreamFailed, match="sent more than 3 MB"):
            await shop_of(server).query("SELECT a FROM b")

    @pytest.mark.parametrize(
        "tokens",
        [
            b"",
            b"\x00",
            b"\xff" * 40,
            b"\x81\xff\x7f",
            b"\x81\x01\x00" + bytes(6) + b"\x99",
            rows(["a"], ["VARCHAR"], []) + b"\xd1\xfe",
            rows(["a"], ["DATE"], []) + b"\xd1\x03\xff\xff\xff",
            rows(["a"], ["DECIMAL(3,1)"], []) + b"\xd1\x40" + b"\x01" * 64,
            b"\xd1" + bytes(8),
            b"\xe3\x04\x00\x08\x03" + bytes(3),
            b"\xaa\x10\x00" + bytes(8),
            done(2),
        ],
    )
    async def test_that_breaks_the_protocol_is_reported(self, server: SqlServer, tokens: bytes) -> None:
        server.answers["SELECT a"] = lambda _: tokens
        with pytest.raises(HeadgateError):
            await shop_of(server).query("SELECT a FROM b", timeout_seconds=3)
        assert (await shop_of(server).query("SELECT id FROM customer WHERE id = 1")).rows == [[1]]

    @pytest.mark.parametrize(
        "packet",
        [
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            b"",
            b"\x04\x01\x00\x00" + bytes(4),
            b"\x04\x01\x00\x0b" + bytes(4) + b"\x01\xff\xff",
            b"\x04\x01\x00\x0e" + bytes(4) + b"\x01\xff\xff\x00\x01\xff",
            b"\x04\x01\xff\xff" + bytes(4),
        ],
    )
    @pytest.mark.parametrize("mode", ["verify", "off"])
    async def test_that_is_another_one_is_reported(self, packet: bytes, mode: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:

            def answer() -> None:
                stream, _ = listening.accept()
                with closing(stream), suppress(OSError):  # the client may hang up at any of these
                    stream.recv(4096)
                    stream.sendall(packet)
                    stream.shutdown(socket.SHUT_WR)
                    stream.recv(4096)

            thread = threading.Thread(target=answer, daemon=True)
            thread.start()
            other = SqlServer(port=listening.getsockname()[1])
            with pytest.raises(HeadgateError):
                await shop_of(other, tls=mode).query("SELECT 1 AS one", timeout_seconds=2)
            thread.join(5)

    async def test_whose_error_is_long_is_shortened(self, server: SqlServer) -> None:
        server.answers["SELECT a"] = lambda _: error(8134, "x" * 1_500 + "\n\x1b[31m") + done(2)
        with pytest.raises(ComponentError) as caught:
            await shop_of(server).query("SELECT a FROM b")
        assert len(str(caught.value)) < 500

    async def test_that_fails_is_no_error_of_the_statement(self, server: SqlServer) -> None:
        server.answers["SELECT a"] = lambda _: error(823, "I/O error", severity=24) + done(2)
        with pytest.raises(UpstreamFailed, match="I/O error"):
            await shop_of(server).query("SELECT a FROM b")


async def test_it_needs_its_extra(server: SqlServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "mssql", ("no_such_module",))
    with pytest.raises(ExtraNotInstalled) as caught:
        await shop_of(server).query("SELECT 1 AS one")
    assert "headgate[mssql]" in str(caught.value.remedy)
