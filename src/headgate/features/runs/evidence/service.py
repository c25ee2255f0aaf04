"""Reads what is stored about a run and makes its evidence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, within
from headgate.features.files import service as files
from headgate.features.flows import versions
from headgate.features.runs import repository
from headgate.features.runs.deliveries import repository as deliveries
from headgate.features.runs.evidence.archive import artifacts_of
from headgate.features.runs.evidence.package import RunRecord, file_ids_of, make_package
from headgate.features.runs.permitted import find_run
from headgate.features.runs.ports import RunFiles
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
    """Makes evidence with an installation's keys."""

    box: SecretBox
    signer: EvidenceSigner
    reads_of: Callable[[Principal], ReadAudit]
    """Where it is written down that a user has secrets read, to be taken out of documents."""

    def key(self) -> EvidenceKey:
        """The public key. Raises `Unavailable` when the private one cannot be read or made."""
        return self._signer().key

    async def package(self, session: AsyncSession, principal: Principal, run_id: str) -> dict[str, Any]:
        """The evidence of a run. Raises `RunNotFound`, `PermissionMissing`."""
        record = await read_record(session, principal, run_id)
        return make_package(record, self._signer(), await self.secret_values(session, principal, record.run.space_id))

    async def secret_values(self, session: AsyncSession, principal: Principal, space_id: str) -> list[str]:
        """The values of the secrets that a space's flows may use: what no document about it may hold."""
        audit = self.reads_of(within(principal, space_id))
        return await secrets.secrets_of(session, self.box, audit, tenant_id=principal.tenant_id, space_id=space_id)

    def _signer(self) -> Signer:
        return self.signer.signer()


async def read_record(session: AsyncSession, principal: Principal, run_id: str) -> RunRecord:
    """Everything that is stored about a run. Raises `RunNotFound`, `PermissionMissing` or `RunDamaged`.

    Of the files that its steps name those of other spaces are left out: a step may write down any id. What the run was
    given is always there: whoever gave it saw it.
    """
    tenant = principal.tenant_id
    run = await find_run(session, principal, run_id, Permission.RUNS_VIEW)
    version = await versions.get_version(session, principal, run.flow_id, run.version, permission=Permission.RUNS_VIEW)
    steps = await repository.list_steps(session, run_id, tenant_id=tenant)
    sent = await deliveries.list_deliveries(session, run_id, tenant_id=tenant)
    with intact("the run's input"):
        given = [file["id"] for file in run.input_payload.get("files", ())]
    wanted = {*given, *(file_id for step in steps for file_id in file_ids_of(step.output_payload))}
    found = await files.find_files(session, tenant_id=tenant, file_ids=wanted)
    return RunRecord(
        run=run,
        definition=version.definition,
        definition_checksum=version.checksum,
        headgate_version=version.headgate_version,
        steps=steps,
        attempts=await repository.list_attempts(session, run_id, tenant_id=tenant),
        deliveries=sent,
        delivery_attempts=await deliveries.list_attempts(session, [row.id for row in sent], tenant_id=tenant),
        files={row.id: row for row in found if row.id in given or row.space_id == run.space_id},
    )


async def read_contents(package: Mapping[str, Any], stored: RunFiles, tenant_id: str) -> dict[str, bytes]:
    """The contents of a package's artifacts by their SHA-256. What cannot be read is left out, and said in the log."""
    found: dict[str, bytes] = {}
    for sha256, about in artifacts_of(package).items():
        try:
            found[sha256] = await stored.read(tenant_id, about["id"])
        except HeadgateError as error:
            log.warning("artifact left out of evidence", file_id=about["id"], problem=error.detail)
    return found
