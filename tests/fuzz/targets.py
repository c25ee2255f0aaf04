"""What reads bytes of strangers, each as a function of bytes that raises only when something is wrong.

A target calls the code as its callers do, lets pass the refusals that it documents, and asserts what must hold of an
accepted input. `tests/fuzz/corpus/<name>` has inputs to begin with: samples, and what fuzzers found.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson
from pydantic import SecretStr

from headgate.components import BUILTINS
from headgate.features.accounts.single_sign_on import transaction
from headgate.features.catalog.registry import Registry
from headgate.features.flows.transfer import export_flow, import_flow
from headgate.features.runs.evidence.verify import NotEvidence, verify
from headgate.features.runs.listing.service import place_of
from headgate.features.runs.preview import importing
from headgate.features.runs.preview.inventory import inventory_of
from headgate.features.runs.views import stream
from headgate.features.runs.widget import tokens
from headgate.foundation.api import parse_cursor
from headgate.foundation.crypto import SecretBox
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import Settings
from headgate.foundation.sse import SseEvent
from headgate.graph.manifest import Manifest
from headgate.graph.spec import SpecError, parse_spec, print_spec
from headgate.sandbox.broker.rules import Grant, NetworkRules
from headgate.sandbox.broker.session import QUESTION_BYTES, read_question
from headgate.sandbox.limits import Limits
from headgate.sandbox.workers.answers import read_answer

CORPUS = Path(__file__).parent / "corpus"
CALL = 7
"""Number of the call that the answers of a worker belong to."""


@cache
def catalog() -> Registry:
    """The built-in components."""
    return Registry(BUILTINS)


@cache
def box() -> SecretBox:
    """An installation's key."""
    return SecretBox(
        new_ring(Settings(_env_file=None, data_dir=Path(tempfile.mkdtemp()), secret_key=SecretStr("k" * 42 + "g=")))
    )


def spec(content: bytes) -> None:
    """The text of a flow: what is read prints as itself."""
    try:
        flow = parse_spec(content.decode(errors="replace"))
    except SpecError:
        return
    printed = print_spec(flow)
    again = parse_spec(printed)
    assert again == flow, printed
    assert print_spec(again) == printed


def importer(content: bytes) -> None:
    """A file that a user imports: the report lists what it names, and an export of it is the same flow."""
    text = content.decode(errors="replace")
    with suppress(HeadgateError):
        if importing._foreign(text) is not None:
            return
        importing._refuse_prose(text)
        flow = import_flow(text, catalog())
        inventory_of(flow, lambda node: importing._template_of(catalog(), node))
        assert import_flow(export_flow(flow, format="json"), catalog()) == flow


def sealed(content: bytes) -> None:
    """Tokens of visitors, cookies of a sign-in and cursors: as they come, and with anything sealed inside."""
    text = content[:2000].decode("latin-1")
    forged = text.encode("ascii", "ignore").decode()
    with suppress(HeadgateError):
        assert tokens.unseal(box(), "file", forged, visit="v") is None, "a token was forged"
    with suppress(HeadgateError):
        assert transaction.unseal(box(), forged) is None, "a cookie was forged"
    inside = box().encrypt(SecretStr(text)).decode()
    with suppress(HeadgateError):
        assert tokens.unseal(box(), "file", inside, visit="v")["visit"] == "v"
    with suppress(HeadgateError):
        transaction.unseal(box(), inside)
    for sort in ("name", "updated", "created"):
        with suppress(HeadgateError):
            place_of(sort, text)
    with suppress(HeadgateError):
        parse_cursor(text)


def sse(content: bytes) -> None:
    """Server-sent events: whatever is in one, a reader by the HTML standard gets that one event; ids of readers."""
    text = content.decode(errors="replace")
    written = SseEvent("3.1.4", "token", {"text": text, text: [text]}).as_sse()
    assert read_events(written) == [("3.1.4", "token", {"text": text} | {text: [text]})]
    if (match := stream._ID.fullmatch(text)) is not None:
        assert all(0 <= int(part or 0) < 10**9 for part in match.groups())


def read_events(content: bytes) -> list[tuple[str, str, Any]]:
    """Events as the HTML standard reads them (9.2.6), written down as plainly as it is there."""
    found, event = [], {"id": "", "event": "", "data": list[str]()}
    for line in content.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if not line and event["data"]:
            found.append((str(event["id"]), str(event["event"]), json.loads("\n".join(event["data"]))))
            event = {"id": event["id"], "event": "", "data": []}
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            event["data"] = [*event["data"], value]
        elif name in event and line:
            event[name] = value
    return found


def broker(content: bytes) -> None:
    """What sandboxed code sends: questions to the network broker, and answers of a worker."""
    question = read_question(content[:QUESTION_BYTES])
    if question is not None:
        with suppress(HeadgateError):
            target = question.target()
            grant().require(target.host, target.port)
            assert (target.host, target.port) in {("api.example.org", 443), ("api.example.org", 80)}
    with suppress(HeadgateError):
        value = read_answer(content, CALL, "def run(inputs):\n    return 1\n", "run()", Limits())
        assert orjson.loads(orjson.dumps(value)) == value


@cache
def grant() -> Grant:
    """Code that may reach one host."""
    rules = NetworkRules.of(["api.example.org", "*.example.com"], AddressPolicy())
    return Grant.of(Manifest(hosts=("api.example.org",)), rules)


def evidence(content: bytes) -> None:
    """A package of evidence: a file that holds is, byte for byte, one that was written."""
    try:
        verdict = verify(content)
    except NotEvidence:
        return
    assert not verdict.good or content in written(), "a file that nobody signed holds"


@cache
def written() -> frozenset[bytes]:
    """The packages of the corpus that were signed."""
    return frozenset(path.read_bytes() for path in (CORPUS / "evidence").glob("signed*"))


TARGETS: Mapping[str, Callable[[bytes], None]] = MappingProxyType(
    {"broker": broker, "evidence": evidence, "importer": importer, "sealed": sealed, "spec": spec, "sse": sse}
)
"""Every target by its name."""
