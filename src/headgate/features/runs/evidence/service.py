"""Reads the stored data of a run and builds its evidence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, within
from headgate.features.files import service as files
from headgate.features.flows import history
from headgate.features.runs import repository
from headgate.features.runs.approvals import repository as approvals
from headgate.features.runs.approvals.sealed import unseal
from headgate.features.runs.deliveries import repository as deliveries
from headgate.features.runs.evidence.archive import artifacts_of
from headgate.features.runs.evidence.package import RunRecord, file_ids_of, make_package
from headgate.features.runs.permitted import find_run
from headgate.features.runs.ports.storage import RunFiles
from headgate.features.runs.sent_events import repository as sent_events
from headgate.features.runs.steps.payloads import intact
from headgate.features.secrets import service as secrets
from headgate.features.secrets.reads import ReadAudit
from headgate.foundation.crypto import EvidenceSigner, SecretBox
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.foundation.signing import EvidenceKey, Signer

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Notary:
    """Builds evidence with an installation's keys."""

    box: SecretBox
    signer: EvidenceSigner
    reads_of: Callable[[Principal], ReadAudit]
    """Records in the audit log that a user's request read secrets, for masking."""

    def key(self) -> EvidenceKey:
        """Return the public key. Raises `Unavailable` when the private key cannot be read or created."""
        return self._signer().key

    async def package(self, session: AsyncSession, principal: Principal, run_id: str) -> dict[str, Any]:
        """Return the evidence of a run. Raises `RunNotFound`, `PermissionMissing`."""
        record = await read_record(session, principal, run_id, box=self.box)
        return make_package(record, self._signer(), await self.secret_values(session, principal, record.run.space_id))

    async def secret_values(self, session: AsyncSession, principal: Principal, space_id: str) -> list[str]:
        """Return the secrets that flows of a space may use, for masking."""
        audit = self.reads_of(within(principal, space_id))
        return await secrets.secrets_of(session, self.box, audit, tenant_id=principal.tenant_id, space_id=space_id)

    def _signer(self) -> Signer:
        return self.signer.signer()


async def read_record(session: AsyncSession, principal: Principal, run_id: str, *, box: SecretBox) -> RunRecord:
    """Read all stored data of a run. Raises `RunNotFound`, `PermissionMissing` or `RunDamaged`.

    Files of other spaces that its steps name are excluded: a step may write any id. The run's input files are always
    included, since its starter has access to them.
    """
    tenant = principal.tenant_id
    run = await find_run(session, principal, run_id, Permission.RUNS_VIEW)
    version = await history.get_version(session, principal, run.flow_id, run.version, permission=Permission.RUNS_VIEW)
    steps = await repository.list_steps(session, run_id, tenant_id=tenant)
    delivery_rows = await deliveries.list_deliveries(session, run_id, tenant_id=tenant)
    with intact("the run's input"):
        input_file_ids = [file["id"] for file in run.input_payload.get("files", ())]
    file_ids = {*input_file_ids, *(file_id for step in steps for file_id in file_ids_of(step.output_payload))}
    file_rows = await files.find_files(session, tenant_id=tenant, file_ids=file_ids)
    approval_rows = await approvals.list_of_run(session, run_id, tenant_id=tenant)
    decision_rows = await approvals.list_decisions(session, [row.id for row in approval_rows], tenant_id=tenant)
    return RunRecord(
        run=run,
        definition=version.definition,
        definition_checksum=version.checksum,
        headgate_version=version.headgate_version,
        steps=steps,
        attempts=await repository.list_attempts(session, run_id, tenant_id=tenant),
        deliveries=delivery_rows,
        delivery_attempts=await deliveries.list_attempts(session, [row.id for row in delivery_rows], tenant_id=tenant),
        files={row.id: row for row in file_rows if row.id in input_file_ids or row.space_id == run.space_id},
        approvals=approval_rows,
        pauses=await repository.list_pauses(session, run_id, tenant_id=tenant),
        started_runs=await repository.list_started_runs(session, run_id, tenant_id=tenant),
        event_waits=await sent_events.list_of_run(session, run_id, tenant_id=tenant),
        approval_decisions=decision_rows,
        approval_answers={
            (row.approval_id, row.user_id): unseal(box, row.response).get("answers", {}) for row in decision_rows
        },
    )


async def read_contents(package: Mapping[str, Any], stored: RunFiles, tenant_id: str) -> dict[str, bytes]:
    """Return the contents of a package's artifacts by SHA-256. Unreadable ones are skipped and logged."""
    contents: dict[str, bytes] = {}
    for sha256, artifact in artifacts_of(package).items():
        try:
            contents[sha256] = await stored.read(tenant_id, artifact["id"])
        except HeadgateError as error:
            log.warning("artifact omitted from evidence", file_id=artifact["id"], problem=error.detail)
    return contents
