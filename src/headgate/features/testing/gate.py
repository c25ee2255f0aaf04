"""Whether a flow's content passed the flow's tests, and the gate that publishing goes through where a flow says so."""

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.features.testing import repository
from headgate.features.testing.errors import TestsRequired
from headgate.features.testing.schemas import Standing
from headgate.features.testing.service import cases_of, checksum_of
from headgate.graph.model import Flow

_RUN = "Run the tests of the draft: on the flow's page under Tests, or with `headgate tests run`."


async def standing_of(session: AsyncSession, flow: FlowRow, *, logic: str, trials: int) -> Standing:
    """How content of a flow stands with the flow's tests as they are now.

    The newest result for exactly this content and these tests decides: a failure always, a pass when it took as many
    trials as are required. What was cancelled says nothing.
    """
    cases = await cases_of(session, flow.id, tenant_id=flow.tenant_id)
    if not cases:
        return Standing(state="empty")
    over = await repository.list_over(session, flow.id, tenant_id=flow.tenant_id, logic=logic, tests=checksum_of(cases))
    for result in over:
        if result.status == "failed":
            lines = await repository.list_trials(session, result.id, tenant_id=flow.tenant_id)
            failed = list(dict.fromkeys(line.name for line in lines if not line.passed))
            return Standing(state="failed", result_id=result.id, failed=failed)
        if result.trials >= trials:
            return Standing(state="passed", result_id=result.id)
    return Standing(state="never")


class TestsGate:
    """Refuses to publish what did not pass, where the flow's settings require that."""

    __test__ = False

    async def require(self, session: AsyncSession, flow: FlowRow, version: FlowVersionRow) -> None:
        """Raise `TestsRequired` saying what is missing. The flow is locked, so its tests do not change meanwhile."""
        settings = Flow.model_validate(version.definition).settings
        if not settings.require_tests:
            return
        trials = settings.required_trials
        found = await standing_of(session, flow, logic=version.logic_checksum, trials=trials)
        if found.state == "empty":
            raise TestsRequired(
                "empty",
                f"'{flow.name}' is published only when its tests pass, and it has none.",
                "Add a test and run it, or switch the requirement off in the flow's tests.",
            )
        if found.state == "never":
            often = "" if trials == 1 else f", {trials} trials each"
            raise TestsRequired(
                "never", f"'{flow.name}' is published only when its tests pass{often}; this content never did.", _RUN
            )
        if found.state == "failed":
            raise TestsRequired(
                "failed",
                f"'{flow.name}' is published only when its tests pass; these failed: {_named(found.failed)}.",
                f"Mend the flow, or the tests. {_RUN}",
                found.failed,
            )


def _named(names: list[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
