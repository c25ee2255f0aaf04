"""Evidence of real runs: the same bytes from every process and every database, checked offline by the command line."""

import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import insert, select

from headgate.features.access.principal import LOCAL
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.evidence.archive import as_json
from headgate.features.runs.evidence.service import Notary
from headgate.features.runs.evidence.verify import verify
from headgate.features.secrets import service as secrets
from headgate.foundation.crypto import EvidenceSigner, SecretBox
from headgate.foundation.database import Database, metadata
from headgate.foundation.errors import Unavailable
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import LimitSettings, Settings
from tests.integration.features.runs.conformance import finish
from tests.support.databases import Postgres, SqliteFiles, make_settings
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.forked import fork
from tests.support.secret_reads import NotedReads

SEED = SecretStr("A" * 43 + "=")
_SPEAKS = make_flow(
    {"start": "Start", "say": "Speak", "keep": "Keep"}, ["start.text -> say.input", "say.text -> keep.input"]
)
_SHARED = frozenset({"tenants", "users", "spaces", "space_members", "scheduled_jobs"})
"""Tables whose rows every database of a test has."""


async def package(settings: Settings, database: Database, run_id: str) -> dict[str, Any]:
    notary = Notary(SecretBox(new_ring(settings)), EvidenceSigner(new_ring(settings)), lambda _: NotedReads())
    async with database.reading() as session:
        return await notary.package(session, LOCAL, run_id)


async def finished(engine: ExecutionBackend, database: Database, text: str = "one two") -> str:
    request = new_run(await store_flow(database, _SPEAKS), text)
    await finish(engine, request)
    return request.key.run_id


def headgate(settings: Settings, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One command in a separate process."""
    command = ["headgate", *arguments]
    environment = {
        **os.environ,
        "HEADGATE_DATA_DIR": str(settings.data_dir),
        "HEADGATE_DATABASE__URL": settings.database.url,
        "NO_COLOR": "1",
    }
    with TemporaryFile() as errors:
        process = fork(*command, environment=environment, stderr=errors.fileno())
        said = process.communicate().decode()
        errors.seek(0)
        return subprocess.CompletedProcess(command, process.wait(), said, errors.read().decode())


@contextmanager
def another(settings: Settings, tmp_path: Path, files: SqliteFiles, postgres: Postgres) -> Iterator[Settings]:
    """A fresh database of the other kind."""
    folder = tmp_path / "other"
    if settings.database.url:
        files.fresh(folder)
        yield make_settings(folder)
        return
    with postgres.fresh() as url:
        folder.mkdir()
        yield make_settings(folder, url)


async def copy_rows(source: Database, target: Database) -> None:
    """Every row of one database into another."""
    async with source.reading() as reading, target.writing() as writing:
        for table in metadata.sorted_tables:
            rows = [dict(row._mapping) for row in await reading.execute(select(table))]
            if rows and table.name not in _SHARED:
                await writing.execute(insert(table), rows)


class TestEvidence:
    async def test_is_the_same_from_two_processes_and_verifies(
        self, engine: ExecutionBackend, database: Database, settings: Settings, tmp_path: Path
    ) -> None:
        run_id = await finished(engine, database)
        for ending in ("json", "zip"):
            made = [tmp_path / f"{number}.{ending}" for number in range(2)]
            for path in made:
                done = headgate(settings, "runs", "evidence", run_id, "-o", str(path))
                assert done.returncode == 0, done.stderr
            first, second = (path.read_bytes() for path in made)
            assert first == second
            if ending == "json":
                assert first == as_json(await package(settings, database, run_id))
            key = headgate(settings, "evidence", "key").stdout.strip()
            told = headgate(settings, "evidence", "verify", str(made[0]), "--key", key)
            assert (told.returncode, run_id in told.stdout) == (0, True), told.stdout + told.stderr

    async def test_is_the_same_from_either_database(  # noqa: PLR0917 - fixtures
        self,
        engine: ExecutionBackend,
        database: Database,
        settings: Settings,
        tmp_path: Path,
        sqlite_files: SqliteFiles,
        postgres: Postgres,
    ) -> None:
        run_id = await finished(engine, database, "tal 1.0 och 1e22: åäö \N{GRINNING FACE}")
        keyed = settings.model_copy(update={"evidence_key": SEED})
        with another(settings, tmp_path, sqlite_files, postgres) as other_settings:
            other = Database(other_settings)
            await copy_rows(database, other)
            theirs = await package(other_settings.model_copy(update={"evidence_key": SEED}), other, run_id)
            await other.close()
        assert as_json(theirs) == as_json(await package(keyed, database, run_id))

    async def test_names_artifacts_that_long_outputs_became(
        self, make_engine: Any, database: Database, settings: Settings
    ) -> None:
        engine = await make_engine(limits=LimitSettings(max_inline_text_bytes=256))
        request = new_run(await store_flow(database, make_flow({"big": "Big"}, big={"size": 4000})))
        await finish(engine, request)
        (step,) = (await package(settings, database, request.key.run_id))["step_results"]
        assert step["artifacts"][0]["size_bytes"] == 8000
        assert len(step["artifacts"][0]["sha256"]) == 64

    async def test_of_a_failed_run_says_why(
        self, engine: ExecutionBackend, database: Database, settings: Settings
    ) -> None:
        flow = make_flow({"start": "Start", "bad": "Broken"}, ["start.text -> bad.input"])
        request = new_run(await store_flow(database, flow))
        await finish(engine, request)
        found = await package(settings, database, request.key.run_id)
        assert found["run"]["status"] == "failed"
        assert found["step_results"][-1]["error"]["code"] == "invalid"
        assert verify(as_json(found)).good

    async def test_never_holds_a_stored_secret(
        self, engine: ExecutionBackend, database: Database, settings: Settings
    ) -> None:
        async with database.writing() as session:
            value = SecretStr("Hunter-22-Hunter")
            await secrets.set_variable(session, LOCAL, SecretBox(new_ring(settings)), name="PASS", value=value)
        run_id = await finished(engine, database, "my word is Hunter-22-Hunter indeed")
        text = as_json(await package(settings, database, run_id)).decode()
        assert "Hunter-22" not in text
        assert "my word is [redacted] indeed" in text


class TestVerifyCommand:
    async def test_says_what_was_changed_and_exits_with_one(
        self, engine: ExecutionBackend, database: Database, settings: Settings, tmp_path: Path
    ) -> None:
        path = tmp_path / "evidence.json"
        path.write_bytes(as_json(await package(settings, database, await finished(engine, database))))
        true, forged = (f'"status":"{status}","step_id":"say"' for status in ("completed", "failed"))
        path.write_text(path.read_text().replace(true, forged))
        told = headgate(settings, "evidence", "verify", str(path))
        assert told.returncode == 1
        assert "step 'say': 'status' was changed." in told.stdout

    def test_tells_other_files_apart(self, tmp_path: Path) -> None:
        settings = make_settings(tmp_path)
        (tmp_path / "other.json").write_text("{}")
        assert headgate(settings, "evidence", "verify", str(tmp_path / "other.json")).returncode == 3
        assert headgate(settings, "evidence", "verify", str(tmp_path / "none.json")).returncode == 4


class TestEvidenceKey:
    def test_is_made_once_and_kept_private(self, tmp_path: Path) -> None:
        settings = make_settings(tmp_path)
        assert EvidenceSigner(new_ring(settings)).signer().key == EvidenceSigner(new_ring(settings)).signer().key
        assert stat.S_IMODE((tmp_path / "evidence.key").stat().st_mode) == 0o600

    @pytest.mark.parametrize("key", ["short", "AAAA", "ö"])
    async def test_that_is_no_key_is_refused(self, tmp_path: Path, key: str) -> None:
        settings = make_settings(tmp_path).model_copy(update={"evidence_key": SecretStr(key)})
        with pytest.raises(Unavailable, match="32 bytes"):
            Notary(SecretBox(new_ring(settings)), EvidenceSigner(new_ring(settings)), lambda _: NotedReads()).key()


class TestLiveRuns:
    async def test_have_evidence_of_what_has_happened(
        self, engine: ExecutionBackend, database: Database, settings: Settings
    ) -> None:
        request = new_run(await store_flow(database, make_chain(2)))
        await engine.start(request)
        assert verify(as_json(await package(settings, database, request.key.run_id))).good
        await engine.wait(request.key.run_id)
