"""Every module that opens connections is in the table of outgoing clients, and every client is made on the guard."""

import ast
from pathlib import Path

import pytest

from headgate.foundation.guarded_http.outgoing import OUTGOING, owners_of
from tests.architecture.source import PACKAGE, modules, tree

pytestmark = pytest.mark.xdist_group("source")

NETWORK_LIBRARIES = {
    "aioboto3", "aiobotocore", "aiohttp", "anthropic", "asyncpg", "authlib", "azure", "boto3", "botocore", "celery",
    "fsspec", "google", "grpc", "groq", "httpcore", "httpcore2", "httpx", "httpx2", "ibm_watsonx_ai", "kombu",
    "langsmith", "msal", "obstore", "ollama", "openai", "psycopg", "psycopg_pool", "redis", "requests", "s3fs",
    "smtplib", "socket", "socketserver", "ssl", "telnetlib", "urllib3", "websockets", "ftplib", "imaplib", "poplib",
    "xmlrpc",
}  # fmt: skip
"""Libraries with which a module could open a connection."""
NETWORK_MODULES = {"http.client", "urllib.request", "mcp.client", "opentelemetry.exporter", "anyio.connect_tcp"}
NETWORK_CALLS = {"open_connection", "create_connection", "create_datagram_endpoint", "sock_connect", "getaddrinfo"}
NO_CONNECTION = {
    "features.accounts.single_sign_on.protocol": "Authlib builds and reads messages; our client sends them",
    "components.web.api_request": "urllib3 writes the parts of a form; our client sends them",
    "features.mcptools.discovery": "requests and answers of the library, which our client sends",
    "features.mcptools.signing": "adds a header to the requests of a client of the guard",
    "features.runs.engine.distributed.transport": "an exception's class",
    "components.isolated.notifications": "in a process without a network: its requests are answered by the caller",
}
"""Modules that name such a library and open nothing with it."""
CLIENT_CLASSES = {"AsyncClient", "Client", "AsyncHTTPTransport", "HTTPTransport", "Session", "ClientSession"}
OF_THE_GUARD = "foundation.guarded_http"


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def network_uses(node: ast.Module) -> set[str]:
    """What a module names that could open a connection; imports that only a type checker reads are left out."""
    found: set[str] = set()
    hidden = {id(inner) for one in ast.walk(node) if _only_for_types(one) for inner in _body_of(one)}
    for one in ast.walk(node):
        if id(one) in hidden:
            continue
        names: list[str] = []
        if isinstance(one, ast.Import):
            names = [alias.name for alias in one.names]
        elif isinstance(one, ast.ImportFrom) and one.module and not one.level:
            names = [one.module, *(f"{one.module}.{alias.name}" for alias in one.names)]
        elif isinstance(one, ast.Call):
            called = one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "")
            if called in NETWORK_CALLS:
                found.add(called)
            if called in {"lazy_module", "import_module"} and one.args and isinstance(one.args[0], ast.Constant):
                names = [str(one.args[0].value)]
        found |= {name for name in names if _is_network(name)}
    return found


def _is_network(name: str) -> bool:
    if name.partition(".")[0] in NETWORK_LIBRARIES and not name.endswith((".exceptions", "Error")):
        return ".exceptions" not in name
    return any(name == one or name.startswith(f"{one}.") for one in NETWORK_MODULES)


def _only_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _body_of(node: ast.AST) -> list[ast.AST]:
    return [inner for one in getattr(node, "body", []) for inner in ast.walk(one)]


def unguarded_clients(node: ast.Module) -> list[int]:
    """Lines that make an HTTP client or transport without naming a transport, or that reads the environment."""
    lines = []
    for one in ast.walk(node):
        if not (isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)):
            continue
        owner = one.func.value.id if isinstance(one.func.value, ast.Name) else ""
        if owner not in {"httpx", "httpx2", "requests", "aiohttp"}:
            continue
        named = {keyword.arg: keyword.value for keyword in one.keywords}
        if one.func.attr in {"get", "post", "put", "request", "stream", "delete", "head", "urlopen"}:
            lines.append(one.lineno)
        if one.func.attr in CLIENT_CLASSES and None not in named and not _is_guarded(one.func.attr, named):
            lines.append(one.lineno)
    return lines


def _is_guarded(kind: str, named: dict[str | None, ast.expr]) -> bool:
    env = named.get("trust_env")
    ignores = isinstance(env, ast.Constant) and env.value is False
    return ignores and (kind.endswith("Transport") or "transport" in named)


class TestTable:
    def test_names_modules_that_are_there(self) -> None:
        there = {name_of(path) for path in modules()}
        named = {module for row in OUTGOING for module in row.modules}
        assert {one for one in named if one not in there} == set()

    def test_names_each_way_out_once(self) -> None:
        ids = [row.id for row in OUTGOING]
        assert len(ids) == len(set(ids))


class TestModules:
    def test_that_open_connections_are_in_the_table(self) -> None:
        strangers = {
            name: sorted(uses)
            for path in modules()
            if not (name := name_of(path)).startswith((OF_THE_GUARD, "foundation.migrations"))
            and name not in NO_CONNECTION
            and not owners_of(name)
            and (uses := network_uses(tree(path)))
        }
        assert strangers == {}, "name the module in foundation/guarded_http/outgoing.py, or use the guarded client"

    def test_that_open_none_are_still_there(self) -> None:
        naming = {name_of(path) for path in modules() if network_uses(tree(path))}
        assert NO_CONNECTION.keys() - naming == set()

    def test_make_no_client_of_their_own(self) -> None:
        found = {name_of(path): lines for path in modules() if (lines := unguarded_clients(tree(path)))}
        assert found == {}

    def test_make_no_policy_that_forgets_the_proxy(self) -> None:
        found = {
            name
            for path in modules()
            if not (name := name_of(path)).startswith(OF_THE_GUARD)
            for one in ast.walk(tree(path))
            if isinstance(one, ast.Call)
            and "AddressPolicy" in {getattr(one.func, "id", ""), getattr(one.func, "attr", "")}
        }
        assert found == set(), "use AddressPolicy.of(settings.outgoing, ...)"

    @pytest.mark.parametrize(
        "source",
        [
            "import httpx2\nhttpx2.AsyncClient()",
            "import httpx2\nhttpx2.get('http://x')",
            "import requests\nrequests.Session()",
            "import httpx\nhttpx.Client(trust_env=False)",
            "import httpx\nhttpx.Client(transport=t)",
        ],
    )
    def test_would_be_found(self, source: str) -> None:
        assert network_uses(ast.parse(source)) != set()
        assert unguarded_clients(ast.parse(source)) == [2]

    @pytest.mark.parametrize(
        "source",
        [
            "import asyncio\nasyncio.open_connection('x', 1)",
            "from urllib.request import urlopen",
            "from headgate.foundation.lazy import lazy_module\nx = lazy_module('boto3')",
            "from http.client import HTTPConnection",
            "import grpc.aio",
        ],
    )
    def test_would_be_found_by_what_they_name(self, source: str) -> None:
        assert network_uses(ast.parse(source)) != set()
