"""Test calls of connections: one small exchange with the server, with a clear result and what to do next."""

import asyncio
import base64
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import orjson

from headgate.components.amqp_queues import sign_in
from headgate.components.kafka.topics import count_brokers
from headgate.components.redis_streams import ask
from headgate.components.sql.components import in_database
from headgate.components.sql.statements import table_names
from headgate.components.sql.transact_sql import rights_to_change
from headgate.components.storage.storage import opened_storage
from headgate.features.connections.kinds import Probe
from headgate.foundation.errors import HeadgateError
from headgate.graph.names import listed
from headgate.sdk import Connection

if TYPE_CHECKING:
    import sqlalchemy as sa

LINE_BYTES = 8192
MOST_LINES = 50
_MCP = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
_MCP_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "headgate", "version": "1"},
    },
}
_CHECK_ADDRESS = "Check the host and the port, and that a firewall allows the connection."
_CHECK_CREDENTIALS = "Check the user and the password, or create a new key at the provider."


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a test."""

    ok: bool
    message: str
    remedy: str = ""


async def probe(kind: Probe, connection: Connection, seconds: float) -> Outcome:
    """Make the test call of a kind. A refusal of the server is an outcome, not an error."""
    call = _PROBES.get(kind)
    if call is None:
        return Outcome(ok=True, message="The connection is complete. Its kind has no test call.")
    try:
        async with asyncio.timeout(seconds):
            return await call(connection, seconds)
    except HeadgateError as error:
        return Outcome(ok=False, message=error.detail, remedy=error.remedy)
    except TimeoutError:
        return Outcome(
            ok=False, message=f"The server did not answer within {seconds:g} seconds.", remedy=_CHECK_ADDRESS
        )
    except ssl.SSLError as error:
        reason = error.reason or "TLS failed"
        return Outcome(
            ok=False, message=f"The encrypted connection failed: {reason}.", remedy="Check port and security."
        )
    except OSError:
        return Outcome(ok=False, message="The server cannot be reached.", remedy=_CHECK_ADDRESS)


async def _http(connection: Connection, seconds: float) -> Outcome:
    path = connection.text("test_path")
    answer = await connection.http.request("GET", connection.url(path), timeout_seconds=seconds)
    if answer.status in {401, 403}:
        return Outcome(
            ok=False, message=f"The server refused the credential ({answer.status}).", remedy=_CHECK_CREDENTIALS
        )
    if answer.status >= 500:
        return Outcome(ok=False, message=f"The server answered {answer.status}.", remedy="Try again later.")
    if path and answer.status >= 400:
        return Outcome(ok=False, message=f"The test path answered {answer.status}.", remedy="Correct the test path.")
    if not path:
        message = f"The server answered {answer.status}. Set a test path that needs the credential to check it, too."
        return Outcome(ok=True, message=message)
    return Outcome(ok=True, message=f"The server accepted the credential ({answer.status}).")


async def _models(connection: Connection, seconds: float) -> Outcome:
    answer = await connection.http.request("GET", connection.url("/models"), timeout_seconds=seconds)
    if answer.status in {401, 403}:
        return Outcome(ok=False, message=f"The server refused the key ({answer.status}).", remedy=_CHECK_CREDENTIALS)
    models = _object(answer.content).get("data")
    if answer.status != 200 or not isinstance(models, list):
        return Outcome(
            ok=False,
            message=f"The server listed no models ({answer.status}).",
            remedy="Check that the URL ends with /v1.",
        )
    return Outcome(ok=True, message=f"The server lists {len(models)} models.")


async def _mcp(connection: Connection, seconds: float) -> Outcome:
    answer = await connection.http.request(
        "POST", connection.text("url"), headers=_MCP, body=orjson.dumps(_MCP_HELLO), timeout_seconds=seconds
    )
    if answer.status in {401, 403}:
        return Outcome(ok=False, message=f"The server refused the token ({answer.status}).", remedy=_CHECK_CREDENTIALS)
    lines = [line.partition(b":")[2] for line in answer.content.splitlines() if line.startswith(b"data:")]
    result = next((_object(text).get("result") for text in (answer.content, *lines) if _object(text)), None)
    if answer.status != 200 or not isinstance(result, dict):
        return Outcome(ok=False, message="The server does not speak MCP.", remedy="Check the URL of the MCP endpoint.")
    return Outcome(ok=True, message=f"The server speaks MCP {str(result.get('protocolVersion') or '')[:20]}.")


async def _smtp(connection: Connection, _seconds: float) -> Outcome:
    async with _Line(connection) as line:
        await line.expect(b"220")
        await line.command("EHLO headgate", b"250")
        if connection.text("security") == "starttls":
            await line.command("STARTTLS", b"220")
            await line.start_tls()
            await line.command("EHLO headgate", b"250")
        if connection.text("user"):
            content = f"\0{connection.text('user')}\0{connection.secret('password')}".encode()
            answer = await line.command(f"AUTH PLAIN {base64.b64encode(content).decode()}")
            if not answer.startswith(b"235"):
                return Outcome(ok=False, message="The mail server refused the password.", remedy=_CHECK_CREDENTIALS)
        await line.command("QUIT")
    return Outcome(ok=True, message="The mail server accepted the connection.")


async def _imap(connection: Connection, _seconds: float) -> Outcome:
    async with _Line(connection) as line:
        await line.expect(b"* OK")
        if connection.text("security") == "starttls":
            await line.tagged("STARTTLS")
            await line.start_tls()
        user, password = (_quoted(text) for text in (connection.text("user"), connection.secret("password")))
        accepted = await line.tagged(f"LOGIN {user} {password}")
        if not accepted:
            return Outcome(ok=False, message="The mailbox refused the password.", remedy=_CHECK_CREDENTIALS)
        await line.tagged("LOGOUT")
    return Outcome(ok=True, message="The mailbox accepted the password.")


async def _sql(connection: Connection, seconds: float) -> Outcome:
    def work(database: "sa.Connection") -> tuple[int, list[str]]:
        rights = rights_to_change(database) if connection.text("dialect") == "sqlserver" else []
        return len(table_names(database)), rights

    tables, rights = await in_database(connection, work, seconds=seconds, subject="The test")
    warning = (
        f" The user may change the database ({listed(rights, most=5)}), and SQL Server has no read-only transaction: "
        "for steps that only read, use a user with the role db_datareader alone."
    )
    return Outcome(ok=True, message=f"The database was opened; tables and views: {tables}.{warning if rights else ''}")


async def _redis(connection: Connection, _seconds: float) -> Outcome:
    await ask(connection, "PING", subject="The test")
    return Outcome(ok=True, message="The server accepted the connection.")


async def _amqp(connection: Connection, _seconds: float) -> Outcome:
    await sign_in(connection, subject="The test")
    return Outcome(ok=True, message="The server accepted the connection.")


async def _kafka(connection: Connection, _seconds: float) -> Outcome:
    count = await count_brokers(connection, subject="The test")
    return Outcome(ok=True, message=f"The cluster accepted the connection; brokers: {count}.")


async def _storage(connection: Connection, seconds: float) -> Outcome:
    async with opened_storage(connection, seconds=seconds, subject="The test") as storage:
        entries = await storage.list_folder("")
    count = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
    return Outcome(ok=True, message=f"The storage lists its folder: {count}.")


async def _git(connection: Connection, seconds: float) -> Outcome:
    api, token = connection.text("api_url").rstrip("/"), connection.secret("token")
    address = f"{api}/user" if api and token else connection.text("url")
    answer = await connection.http.request("GET", address, timeout_seconds=seconds)
    if answer.status in {401, 403}:
        return Outcome(ok=False, message=f"The server refused the token ({answer.status}).", remedy=_CHECK_CREDENTIALS)
    if answer.status >= 400:
        remedy = "Check the address and the API address."
        return Outcome(ok=False, message=f"The server answered {answer.status}.", remedy=remedy)
    if api and token:
        return Outcome(ok=True, message="The server accepted the token.")
    return Outcome(ok=True, message="The server answered. The token was not checked: no token or API address is set.")


class _Line:
    """A connection to a server with a protocol of lines, to a checked address."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._host, self._port = connection.text("host"), connection.number("port")
        self._tags = 0

    async def __aenter__(self) -> Self:
        address = await self._connection.address(self._host, self._port)
        encrypted = self._connection.text("security") == "tls"
        self._reader, self._writer = await asyncio.open_connection(
            address,
            self._port,
            limit=LINE_BYTES,
            ssl=ssl.create_default_context() if encrypted else None,
            server_hostname=self._host if encrypted else None,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def start_tls(self) -> None:
        """Encrypt the connection."""
        await self._writer.start_tls(ssl.create_default_context(), server_hostname=self._host)

    async def read(self) -> bytes:
        """Return the next line; empty at the end."""
        try:
            return await self._reader.readline()
        except ValueError as error:  # a line that is too long
            raise ConnectionError from error

    async def expect(self, begin: bytes) -> bytes:
        """Return the last line of the answer. Raises `ConnectionError` when it does not begin like that."""
        for _ in range(MOST_LINES):
            line = await self.read()
            if line[3:4] != b"-" or not line:
                if not line.startswith(begin):
                    raise ConnectionError
                return line
        raise ConnectionError

    async def command(self, text: str, begin: bytes = b"") -> bytes:
        """Send a line and return the last line of the answer."""
        self._writer.write(text.encode() + b"\r\n")
        await self._writer.drain()
        return await self.expect(begin)

    async def tagged(self, text: str) -> bool:
        """Send a command of IMAP; return whether the server accepted it."""
        self._tags += 1
        tag = f"a{self._tags}".encode()
        self._writer.write(tag + b" " + text.encode() + b"\r\n")
        await self._writer.drain()
        for _ in range(MOST_LINES):
            line = await self.read()
            if line.startswith(tag) or not line:
                return line.startswith(tag + b" OK")
        raise ConnectionError


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _object(content: bytes) -> Mapping[str, object]:
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) else {}


_PROBES: Mapping[Probe, Callable[[Connection, float], Awaitable[Outcome]]] = {
    "http": _http,
    "models": _models,
    "mcp": _mcp,
    "smtp": _smtp,
    "imap": _imap,
    "sql": _sql,
    "redis": _redis,
    "amqp": _amqp,
    "kafka": _kafka,
    "storage": _storage,
    "git": _git,
}
