"""Test status of a flow's content, and the publishing gate that requires passed tests."""

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.features.testing import repository
from headgate.features.testing.errors import TestsRequired
from headgate.features.testing.schemas import Standing
from headgate.features.testing.service import cases_of, checksum_of
from headgate.graph.model import Flow

_RUN = "Run the tests of the draft: on the flow's page under Tests, or with `headgate tests run`."


async def standing_of(session: AsyncSession, flow: FlowRow, *, logic: str, trials: int) -> Standing:
    """Return the test status of content with the flow's current tests.

    The newest result for exactly this content and these tests decides: a failure always, a pass when it had the
    required number of trials. Cancelled results are ignored.
    """
    cases = await cases_of(session, flow.id, tenant_id=flow.tenant_id)
    if not cases:
        return Standing(state="empty")
    finished = await repository.list_over(
        session, flow.id, tenant_id=flow.tenant_id, logic=logic, tests=checksum_of(cases)
    )
    for result in finished:
        if result.status == "failed":
            lines = await repository.list_trials(session, result.id, tenant_id=flow.tenant_id)
            failed = list(dict.fromkeys(line.name for line in lines if not line.passed))
            return Standing(state="failed", result_id=result.id, failed=failed)
        if result.trials >= trials:
            return Standing(state="passed", result_id=result.id)
    return Standing(state="never")


class TestsGate:
    """Refuses to publish untested content when the flow's settings require tests."""

    __test__ = False

    async def require(self, session: AsyncSession, flow: FlowRow, version: FlowVersionRow) -> None:
        """Raise `TestsRequired` with what is missing. The flow is locked, so its tests cannot change meanwhile."""
        settings = Flow.model_validate(version.definition).settings
        if not settings.require_tests:
            return
        trials = settings.required_trials
        standing = await standing_of(session, flow, logic=version.logic_checksum, trials=trials)
        if standing.state == "empty":
            raise TestsRequired(
                "empty",
                f"'{flow.name}' can be published only when its tests pass, and it has none.",
                "Add a test and run it, or remove the requirement in the flow's tests.",
            )
        if standing.state == "never":
            often = "" if trials == 1 else f", {trials} trials each"
            raise TestsRequired(
                "never",
                (f"'{flow.name}' can be published only when its tests pass{often}; this content has not passed."),
                _RUN,
            )
        if standing.state == "failed":
            raise TestsRequired(
                "failed",
                f"'{flow.name}' can be published only when its tests pass; these failed: {_named(standing.failed)}.",
                f"Fix the flow or the tests. {_RUN}",
                standing.failed,
            )


def _named(names: list[str]) -> str:
    quoted = ", ".join(f"'{name}'" for name in names[:5])
    return quoted if len(names) <= 5 else f"{quoted} and {len(names) - 5} more"
