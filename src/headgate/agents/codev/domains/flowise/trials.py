"""One run of one test case on a Flowise server, in a separate chat (DD-021)."""

import time

from pydantic import JsonValue

from headgate.agents.codev.domain import TrialResult
from headgate.agents.codev.domains.flowise.client import FlowiseClient
from headgate.agents.codev.domains.flowise.quoting import visible
from headgate.foundation.errors import HeadgateError
from headgate.foundation.quoting import clipped_to
from headgate.graph.cases import TestCase

LONGEST_ANSWER = 100_000


async def run_case(client: FlowiseClient, flow_id: str, case: TestCase, *, session: str) -> TrialResult:
    """Send the case once. Failures and timeouts are results, not errors."""
    if case.file_ids:
        return TrialResult(answer="", error="Files cannot be sent to a Flowise server. Omit them.", duration_ms=0)
    body: dict[str, JsonValue] = {
        "question": case.text,
        "chatId": session,
        "overrideConfig": {"sessionId": session},
        "streaming": False,
    }
    if case.form:
        body["form"] = case.form
    began = time.perf_counter()
    try:
        prediction = await client.predict(flow_id, body)
    except HeadgateError as error:
        return TrialResult(answer="", error=str(error), duration_ms=_since(began))
    return TrialResult(
        answer=visible(clipped_to(prediction.text, LONGEST_ANSWER)),
        run_id=prediction.id,
        duration_ms=_since(began),
        input_tokens=prediction.input_tokens,
        output_tokens=prediction.output_tokens,
    )


def _since(began: float) -> int:
    return round((time.perf_counter() - began) * 1000)
