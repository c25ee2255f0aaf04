"""Requests made from the OpenAPI document by schemathesis, sent over a socket to a server in this process."""

import asyncio
import os
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import requests
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case as AnyCase
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.core.result import Ok
from schemathesis.core.transport import Response
from schemathesis.schemas import APIOperation as AnyOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.types import ASGIApp

from headgate.entrypoints.http.bounded_protocol import bounded
from tests.integration.isolation.known import OWNED
from tests.integration.isolation.worlds import World

Case: TypeAlias = AnyCase[Any]
Operation: TypeAlias = AnyOperation[Any, Any, Any, Any]

CASES = int(os.environ.get("HEADGATE_FUZZ", "1"))
"""Requests that are made up for each operation; everybody sends each of them."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
LONGEST_SECONDS, STREAM_SECONDS = 120, 1
"""Until an answer counts as none; for how long a stream is watched that may never end."""
_MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
_ORDER = ("get", "head", "put", "post", "patch", "delete")
TELLING = ("Traceback (most", "site-packages", "sqlalchemy", "psycopg.", "sqlite3.", "headgate.features", "headgate/")
"""What no answer may show: our own traces, paths and classes."""


def _what_it_destroys(operation: Operation) -> tuple[bool, int]:
    """Reading first, deleting late, and what ends one's own sign-in last."""
    return operation.path.endswith(("/sign-out", "/me/password")), _ORDER.index(operation.method)


class _Server(uvicorn.Server):
    def capture_signals(self) -> Any:
        """They are the test runner's."""
        return nullcontext()


@asynccontextmanager
async def listening(app: ASGIApp, *, seconds: float = 5.0) -> AsyncIterator[str]:
    """An application on a port of this machine, on the loop of the test; its address. A head may take `seconds`."""
    # Named as TCP: asyncio then sends what is small at once, where it would wait for the other side's acknowledgement.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as door:
        door.bind(("127.0.0.1", 0))
        door.listen()
        config = uvicorn.Config(
            app,
            http=bounded(seconds),
            ws="none",
            lifespan="off",
            log_level="critical",
            access_log=False,
            timeout_keep_alive=75,
        )
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[door]))
        yield f"http://127.0.0.1:{door.getsockname()[1]}"
        server.should_exit = server.force_exit = True
        await serving


@dataclass
class Asked:
    """What was asked, and what came of it."""

    faults: dict[str, str] = field(default_factory=dict)
    """One for each operation and kind of fault."""
    cases: int = 0
    requests: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    """By asker and class of status, as in `viewer 2xx`."""
    seconds: dict[str, float] = field(default_factory=dict)


class Fuzz:
    """Sends every made-up request as each of the askers. About half of them name things that are there.

    Args:
        address: Of the server.
        document: Its OpenAPI document.
        askers: Name to the headers that say who asks.
        world: Ids of things that are there.
    """

    def __init__(
        self, address: str, document: dict[str, Any], askers: Mapping[str, Mapping[str, str]], world: World
    ) -> None:
        self._address = address
        self._document = schemathesis.openapi.from_dict(document)
        self._askers = askers
        self._world = world
        self._session = requests.Session()
        self.asked = Asked()

    def run(self) -> Asked:
        """Try every operation, what destroys last."""
        with self._session:
            for operation in sorted(self._operations(), key=_what_it_destroys):
                started = time.perf_counter()
                self._try(operation)
                self.asked.seconds[operation.label] = time.perf_counter() - started
        return self.asked

    def _operations(self) -> Iterator[Operation]:
        for result in self._document.get_all_operations():
            assert isinstance(result, Ok), result
            yield result.ok()

    def _try(self, operation: Operation) -> None:
        ids = {
            one.name: st.sampled_from([str(value) for value in OWNED[one.name](self._world)] or ["none"])
            for one in operation.path_parameters
            if one.name in OWNED
        }
        cases = st.one_of([operation.as_strategy(generation_mode=mode) for mode in _MODES])

        @seed(0)
        @settings(
            max_examples=CASES,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(cases, st.fixed_dictionaries(ids), st.booleans())
        def attempt(case: Case, known: dict[str, str], there: bool) -> None:
            if there:
                case.path_parameters = {**(case.path_parameters or {}), **known}
                if isinstance(case.body, dict):
                    case.body = {name: self._own(name, value) for name, value in case.body.items()}
            self.asked.cases += 1
            for name, headers in self._askers.items():
                self._ask(operation, case, name, headers)

        attempt()

    def _own(self, name: str, value: Any) -> Any:
        return OWNED[name](self._world)[0] if name in OWNED else value

    def _ask(self, operation: Operation, case: Case, name: str, headers: Mapping[str, str]) -> None:
        is_stream = "text/event-stream" in str(operation.definition.raw)
        seconds = STREAM_SECONDS if is_stream else LONGEST_SECONDS
        try:
            answer = case.call(self._address, self._session, dict(headers), timeout=seconds, allow_redirects=False)
        except requests.RequestException as error:
            if is_stream and isinstance(error, requests.Timeout):
                return
            self._fault(operation, f"no answer: {type(error).__name__}", f"{name}: {case.as_curl_command()} {error}")
            return
        self.asked.requests += 1
        self.asked.answers[f"{name} {answer.status_code // 100}xx"] += 1
        self._check(operation, case, name, answer)

    def _check(self, operation: Operation, case: Case, name: str, answer: Response) -> None:
        text = answer.content.decode(errors="replace")  # a download may be of any kind

        def shown() -> str:
            return f"{name}: {case.as_curl_command()}\n    {answer.status_code} {text[:400]}"

        for word in TELLING:
            if word in text:
                self._fault(operation, f"shows {word}", shown())
        try:
            case.validate_response(answer, checks=CHECKS)
        except FailureGroup as group:
            for failure in group.exceptions:
                if isinstance(failure, Failure):
                    self._fault(operation, f"{failure.title} {answer.status_code}", f"{failure.message} {shown()}")

    def _fault(self, operation: Operation, kind: str, why: str) -> None:
        self.asked.faults.setdefault(f"{operation.label}: {kind}", why)
