"""A run's rows made by hand, for tests of evidence that need no database."""

import hashlib
from types import SimpleNamespace
from typing import Any

from headgate.features.runs.evidence.package import RunRecord, make_package
from headgate.foundation.signing import Signer

SEED = hashlib.sha256(b"a test's key").digest()
RUN_ID = "01a1ffac-76f1-7690-a696-27d0cea7011b"
FILE_ID = "01a1ffac-7705-7295-b279-4590dad8c8e1"
CONTENT = b"what the step saved"
AT = 1_790_000_000_000_000
_NOTHING: dict[str, Any] = {"error_code": None, "error_message": None}


def make_step(step_id: str, order: int, **more: Any) -> Any:
    """A step's row."""
    row = {
        "step_id": step_id,
        "step_order": order,
        "type": "AIStep",
        "status": "completed",
        "classification": 2,
        "reused_from_run_id": None,
        "input_payload": {"headers": {"Authorization": "Bearer abcdefghijkl"}},
        "effective_prompt": "Say hello to Ann.",
        "model_parameters": {"provider": "test", "name": "m", "temperature": 0.5, "api_key": "sk-very-secret-indeed"},
        "num_tokens_input": 3,
        "num_tokens_output": 4,
        "tool_calls": [{"name": "look", "arguments": {"word": "a"}, "result": 1}],
        "log": [{"at": AT, "message": "hello"}],
        "output_payload": {
            "main": "text",
            "outputs": {"text": {"type": "Text", "value": f"out of {step_id}"}},
            "generated_file_ids": [FILE_ID] if order == 2 else [],
        },
        "execution_hash": hashlib.sha256(step_id.encode()).hexdigest(),
        "started_at": AT + order,
        "finished_at": AT + 1000 * order,
        **_NOTHING,
        **more,
    }
    return SimpleNamespace(**row)


def make_record(*, form: list[dict[str, Any]] | None = None, **answers: Any) -> RunRecord:
    """A run of two steps, a delivery and an artifact."""
    run = SimpleNamespace(
        id=RUN_ID,
        tenant_id="t",
        flow_id="f",
        version=3,
        user_id="u",
        session_id=None,
        status="completed",
        input_payload={"text": "hej", "form_data": answers},
        output_payload={"text": "done", "step_ids": ["b"]},
        created_at=AT,
        started_at=AT,
        finished_at=AT + 5000,
        cancelled_at=None,
        source_run_id=None,
        source_step_id=None,
        resumes=0,
        part=None,
        parent_run_id=None,
        parent_step_id=None,
        parent_iteration=None,
        deadline_at=None,
        terms=None,
        **_NOTHING,
    )
    attempt = SimpleNamespace(
        step_id="a",
        attempt_no=1,
        status="completed",
        worker_id="w",
        started_at=AT,
        finished_at=AT + 1,
        record=None,
        **_NOTHING,
    )
    delivery = SimpleNamespace(
        id="d", step_id="b", url_shown="https://example.org/hook", status="delivered", idempotency_key="k",
        last_status=200, created_at=AT, delivered_at=AT + 9, **_NOTHING,
    )  # fmt: skip
    sent = SimpleNamespace(
        delivery_id="d", attempt_no=1, status_code=200, started_at=AT, finished_at=AT + 9, **_NOTHING
    )
    file = SimpleNamespace(
        id=FILE_ID,
        name="saved.txt",
        media_type="text/plain",
        size_bytes=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
    )
    return RunRecord(
        run=run,
        definition={"name": "Greeting", "nodes": [], "form": form or []},
        definition_checksum="c" * 64,
        headgate_version="0.1.0",
        steps=[make_step("a", 1), make_step("b", 2)],
        attempts=[attempt],
        deliveries=[delivery],
        delivery_attempts=[sent],
        files={FILE_ID: file},
    )


def package_of(record: RunRecord | None = None, secrets: tuple[str, ...] = (), seed: bytes = SEED) -> dict[str, Any]:
    """The package of a record, signed with the test's key."""
    return make_package(record or make_record(), Signer(seed), secrets)
