"""`headgate knowledge`, in this process."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import CONFLICT, FAILED, INVALID, NOT_FOUND
from headgate.features.knowledge.search.service import Searcher
from headgate.features.models.local.models import LocalModels
from headgate.features.models.local.store import LocalModel
from tests.integration.cli.test_commands import data_folder
from tests.support.cli import answered
from tests.support.embedding_server import EmbeddingServer
from tests.support.rerank_server import RerankServer
from tests.support.scripted_server import json_reply

__all__ = ["data_folder"]
pytestmark = pytest.mark.usefixtures("data_folder")


@pytest.fixture(autouse=True)
def no_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Local models that the user of this machine has pulled are of no interest."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def plan(data_folder: Path) -> Path:
    path = data_folder / "plan.txt"
    path.write_text("The secret plan.")
    assert run(["knowledge", "create", "Plans"]) == 0
    return path


def added(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> dict[str, Any]:
    (document,) = answered(capsys, "knowledge", "add", "Plans", str(path), *options)
    found: dict[str, Any] = document
    return found


class TestAdd:
    def test_without_options_keeps_the_rights_of_a_document(
        self, plan: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        first = added(capsys, plan)
        assert (first["readers"]["role"], first["classification"]) == ("viewer", 0)
        answered(capsys, "knowledge", "change", "Plans", "plan.txt", "--role", "nobody", "--classification", "3")
        plan.write_text("The secret plan, second edition.")
        second = added(capsys, plan)
        assert (second["version"], second["readers"]["role"], second["classification"]) == (2, None, 3)

    def test_with_other_rights_than_the_document_is_refused(
        self, plan: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert added(capsys, plan, "--role", "owner", "--classification", "2")["readers"]["role"] == "owner"
        plan.write_text("Edited.")
        assert run(["knowledge", "add", "Plans", str(plan), "--role", "viewer"]) == CONFLICT
        assert run(["knowledge", "add", "Plans", str(plan), "--classification", "0"]) == CONFLICT
        assert answered(capsys, "knowledge", "status", "Plans")[0]["version"] == 1


class TestVerify:
    def test_verifies_every_citation_of_the_evidence(
        self, plan: Path, data_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        words = "".join(f"{number:05}" for number in range(600))
        plan.write_text(words)
        document = added(capsys, plan)

        def cited(start: int, end: int, content: str) -> dict[str, Any]:
            sha256 = hashlib.sha256(content.encode()).hexdigest()
            place = {"document_id": document["id"], "version": 1, "document_sha256": document["sha256"]}
            return {**place, "start": start, "end": end, "sha256": sha256}

        right = [cited(start, start + 5, words[start : start + 5]) for start in range(0, 3000, 5)]
        assert answered(capsys, "knowledge", "verify", str(evidence(data_folder, right)))["verified"] is True
        for wrong in ([*right, cited(0, 4, "00001")], [cited(0, 4, "00001"), *right]):
            answer = answered(capsys, "knowledge", "verify", str(evidence(data_folder, wrong)), code=FAILED)
            assert [one["verified"] for one in answer["citations"]].count(False) == 1
            assert len(answer["citations"]) == 601

    def test_says_that_a_citation_is_not_complete(self, plan: Path, data_folder: Path) -> None:
        assert plan.exists()
        for broken in ([{"document_id": "x"}], ["text"], [None]):
            assert run(["knowledge", "verify", str(evidence(data_folder, broken))]) == INVALID


def evidence(folder: Path, citations: list[Any]) -> Path:
    path = folder / "evidence.json"
    path.write_text(json.dumps({"steps": [{"tool_calls": [{"name": "knowledge.search", "result": citations}]}]}))
    return path


class TestChange:
    def test_changes_only_what_is_named(self, plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
        added(capsys, plan, "--role", "owner")
        changed = answered(capsys, "knowledge", "change", "Plans", "plan.txt", "--classification", "2")
        assert (changed["readers"]["role"], changed["classification"]) == ("owner", 2)
        changed = answered(capsys, "knowledge", "change", "Plans", "plan.txt", "--retention-days", "7")
        assert (changed["retention_days"], changed["classification"]) == (7, 2)
        changed = answered(capsys, "knowledge", "change", "Plans", "plan.txt", "--retention-days", "-1")
        assert changed["retention_days"] is None
        assert run(["knowledge", "change", "Plans", "plan.txt", "--user", "nobody"]) == INVALID
        assert "no user or directory group" in capsys.readouterr().err
        changed = answered(capsys, "knowledge", "change", "Plans", "plan.txt", "--role", "editor")
        assert (changed["readers"]["role"], changed["classification"]) == ("editor", 2)


class TestEvaluate:
    def test_measures_the_questions_of_a_file(
        self, plan: Path, data_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        added(capsys, plan)
        lines = [
            {"question": "secret plan?", "documents": ["plan.txt"]},
            {"question": "walrus", "documents": ["plan.txt"]},
        ]
        file = data_folder / "questions.jsonl"
        file.write_text("\n\n".join(map(json.dumps, lines)))
        questions = answered(capsys, "knowledge", "questions", "Plans", "--add", str(file))
        assert [row["question"] for row in questions] == ["secret plan?", "walrus"]
        found = answered(capsys, "knowledge", "evaluate", "Plans", "--limit", "5")
        assert (found["limit"], found["measures"][0]["recall"]) == (5, 0.5)
        assert run(["knowledge", "evaluate", "Plans"]) == 0
        assert "lexical: walrus did not find plan.txt." in capsys.readouterr().out
        listed = answered(capsys, "knowledge", "evaluations", "Plans")
        assert [row["limit"] for row in listed] == [10, 5]
        assert run(["knowledge", "evaluations", "Plans"]) == 0
        assert "lexical: 0.50" in capsys.readouterr().out
        assert answered(capsys, "knowledge", "evaluations", "Plans", found["id"]) == found
        assert run(["knowledge", "evaluations", "Plans", "none"]) == NOT_FOUND

    @pytest.mark.parametrize("content", [b"{", b'{"question": "x"}', b'{"question": "x", "documents": []}', b"\xff"])
    def test_of_a_wrong_file_adds_nothing(
        self, plan: Path, data_folder: Path, capsys: pytest.CaptureFixture[str], content: bytes
    ) -> None:
        added(capsys, plan)
        file = data_folder / "questions.jsonl"
        file.write_bytes(b'{"question": "first", "documents": ["plan.txt"]}\n' + content)
        assert run(["knowledge", "questions", "Plans", "--add", str(file)]) == INVALID
        assert answered(capsys, "knowledge", "questions", "Plans") == []


LOCAL_MODEL = LocalModel("all-minilm-l6-v2", "MiniLM", 1, Path("all-minilm-l6-v2.gguf"), use="embedding")


class TestEmbed:
    @pytest.fixture
    def server(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
        with EmbeddingServer() as server:
            monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            yield server

    def test_embeds_passages_that_each_mode_then_searches(
        self, plan: Path, server: EmbeddingServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        plan.write_text("Employees have a long holiday in the summer of each year.")
        added(capsys, plan)
        capsys.readouterr()
        assert run(["knowledge", "search", "Plans", "vacation", "--mode", "vector"]) == INVALID
        embedded = answered(capsys, "knowledge", "embed", "Plans", "openai/small")
        assert (embedded["passages_embedded"], embedded["searched_model"]) == (1, "openai/small")
        hits = {
            mode: answered(capsys, "knowledge", "search", "Plans", "vacation", "--mode", mode)["hits"]
            for mode in ("lexical", "vector", "hybrid")
        }
        assert {mode: len(found) for mode, found in hits.items()} == {"lexical": 0, "vector": 1, "hybrid": 1}
        assert answered(capsys, "knowledge", "search", "Plans", "vacation")["mode"] == "hybrid"
        assert set(server.embeddings.models) == {"small"}
        assert answered(capsys, "knowledge", "embed", "Plans", "")["searched_model"] == ""
        assert answered(capsys, "knowledge", "search", "Plans", "holiday")["mode"] == "lexical"

    def test_of_a_model_that_fails_changes_nothing(
        self, plan: Path, server: EmbeddingServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        server.embeddings.broken = server.wrong_key("no such key")
        assert run(["knowledge", "embed", "Plans", "openai/small"]) != 0
        server.embeddings.broken = None
        capsys.readouterr()
        assert answered(capsys, "knowledge", "list")[0]["embedding_model"] == ""


class TestCreate:
    def test_uses_the_model_on_the_server_and_says_so(
        self, data_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        async def probe(_searcher: Searcher, _principal: object, _space: str, model: str, _ranker: object) -> None:
            assert model == "local/all-minilm-l6-v2"

        assert run(["knowledge", "create", "Before"]) == 0
        assert "headgate models pull all-minilm-l6-v2" in capsys.readouterr().out
        monkeypatch.setattr(LocalModels, "ready", lambda _models, use="chat": [LOCAL_MODEL] * (use == "embedding"))
        monkeypatch.setattr(Searcher, "probe", probe)
        assert run(["knowledge", "create", "Plans"]) == 0
        assert "with local/all-minilm-l6-v2, the embedding model on this server" in capsys.readouterr().out.replace(
            "\n", " "
        )
        monkeypatch.undo()
        monkeypatch.setenv("HEADGATE_DATA_DIR", str(data_folder / "data"))
        created = answered(capsys, "knowledge", "create", "Words", "--embedding-model", "")
        assert created["embedding_model"] == ""


class TestRerank:
    def test_puts_the_first_passages_in_the_order_of_a_model(
        self, plan: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plan.write_text("The plan for lunch.")
        added(capsys, plan)
        with RerankServer() as server:
            monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            server.broken = json_reply({"detail": "no such model"}, status=404)
            assert run(["knowledge", "rerank", "Plans", "openai/ranker"]) != 0
            server.broken = None
            changed = answered(capsys, "knowledge", "rerank", "Plans", "openai/ranker", "--candidates", "5")
            assert (changed["rerank_model"], changed["rerank_candidates"]) == ("openai/ranker", 5)
            (hit,) = answered(capsys, "knowledge", "search", "Plans", "lunch plan")["hits"]
            assert (hit["rerank_model"], hit["rerank_score"], hit["first_rank"]) == ("openai/ranker", 0.0, 1)
            assert run(["knowledge", "search", "Plans", "lunch plan"]) == 0
            shown = " ".join(capsys.readouterr().out.split())
            assert "reranked by openai/ranker." in shown
            assert "rank 1 before reranking, rerank score 0.0" in shown
            sent = len(server.texts)
            assert answered(capsys, "knowledge", "search", "Plans", "lunch", "--no-rerank")["rerank_model"] == ""
            assert len(server.texts) == sent
            server.broken = json_reply({"error": {"message": "overloaded"}}, status=503)
            assert run(["knowledge", "search", "Plans", "lunch"]) == 0
            assert "Not reranked: " in capsys.readouterr().out
            assert run(["knowledge", "search", "Plans", "lunch", "--rerank"]) != 0
            answered(capsys, "knowledge", "rerank", "Plans", "")
        assert run(["knowledge", "search", "Plans", "lunch", "--rerank"]) == INVALID

    def test_is_measured_beside_the_search_without_it(
        self, plan: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        added(capsys, plan)
        questions = tmp_path / "questions.json"
        questions.write_text(json.dumps([{"question": "secret plan", "documents": ["plan.txt"]}]))
        answered(capsys, "knowledge", "questions", "Plans", "--add", str(questions))
        with RerankServer() as server:
            monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            answered(capsys, "knowledge", "rerank", "Plans", "openai/ranker")
            assert run(["knowledge", "evaluate", "Plans"]) == 0
            assert "lexical, reranked" in capsys.readouterr().out
            without = answered(capsys, "knowledge", "evaluate", "Plans", "--no-rerank")
        assert [row["reranked"] for row in without["measures"]] == [False]


class TestRetention:
    def test_is_chosen_for_a_base(self, plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
        added(capsys, plan)
        assert answered(capsys, "knowledge", "retention", "Plans", "30")["retention_days"] == 30
        found = answered(capsys, "maintenance", "run", "knowledge_documents", "--dry-run")
        assert found["jobs"]["knowledge_documents"]["documents"] == 0
        assert answered(capsys, "knowledge", "retention", "Plans", "0")["retention_days"] == 0


class TestSources:
    def test_are_added_synchronised_listed_and_deleted(
        self, plan: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = plan.parent / "opened"
        folder.mkdir()
        (folder / "a.txt").write_text("The wifi is Quokka.")
        monkeypatch.setenv("HEADGATE_CONNECTIONS__FOLDERS", json.dumps({"files": {"path": str(folder)}}))
        answered(capsys, "connections", "add", "archive", "--kind", "local_folder", "--field", "folder=files")
        assert [entry["path"] for entry in answered(capsys, "connections", "files", "archive")] == ["a.txt"]
        settings = json.dumps({"kind": "storage", "connection": "archive"})
        added = answered(capsys, "knowledge", "source", "Plans", "Archive", settings, "--role", "editor")
        assert (added["source"]["status"], added["source"]["report"]["added"]) == ("ready", 1)
        assert answered(capsys, "knowledge", "status", "Plans")[0]["readers"]["role"] == "editor"
        (folder / "empty.txt").write_text("")
        synced = answered(capsys, "knowledge", "sync", "Plans", "Archive", code=FAILED)
        assert synced["source"]["report"]["unchanged"] == 1
        assert synced["problems"][0]["reasons"] == ["The document has no text."]
        (listed,) = answered(capsys, "knowledge", "sources", "Plans")
        assert (listed["name"], listed["documents"], listed["problems"]) == ("Archive", 2, 1)
        changed = answered(
            capsys, "knowledge", "change-source", "Plans", "Archive", "--role", "nobody", "--every", "3600",
            "--settings", settings.replace('"archive"', '"archive", "pattern": "a*"'), "--classification", "1",
        )  # fmt: skip
        assert (changed["source"]["every_seconds"], changed["source"]["report"]["deleted"]) == (3600, 1)
        (document,) = answered(capsys, "knowledge", "status", "Plans")
        assert (document["readers"]["role"], document["classification"]) == (None, 1)
        changed = answered(capsys, "knowledge", "change-source", "Plans", "Archive", "--every", "0")
        assert (changed["source"]["every_seconds"], changed["source"]["classification"]) == (None, 1)
        answered(capsys, "knowledge", "delete-source", "Plans", "Archive")
        assert answered(capsys, "knowledge", "sources", "Plans") == []
        assert run(["knowledge", "source", "Plans", "Archive", "no-such-file"]) == INVALID


class TestMetadata:
    def test_is_given_shown_and_limits_searches(self, plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
        document = added(capsys, plan, "--metadata", "team=hr", "--metadata", "year=2024", "--metadata", "draft=true")
        assert document["metadata"] == {"team": "hr", "year": 2024, "draft": True}
        fields = answered(capsys, "knowledge", "fields", "Plans")
        assert [(item["key"], item["kind"], item["values"]) for item in fields] == [
            ("draft", "boolean", [True]), ("team", "text", ["hr"]), ("year", "number", [2024]),
        ]  # fmt: skip

        def hits(*where: str) -> int:
            options = [part for condition in where for part in ("--where", condition)]
            return len(answered(capsys, "knowledge", "search", "Plans", "secret", *options)["hits"])

        assert [hits(), hits("team=hr|it", "year>=2020", "year<=2024"), hits("draft")] == [1, 1, 1]
        assert [hits("team=it"), hits("year>=2025"), hits("!draft")] == [0, 0, 0]
        assert run(["knowledge", "search", "Plans", "x", "--where", "team > 1"]) == INVALID
        answered(capsys, "knowledge", "change", "Plans", "plan.txt", "--no-metadata")
        assert answered(capsys, "knowledge", "fields", "Plans") == []

    def test_a_search_says_why_it_is_by_words_only(self, plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
        added(capsys, plan)
        capsys.readouterr()
        assert run(["knowledge", "search", "Plans", "secret"]) == 0
        assert "Search by words only: the base has no embedding model." in capsys.readouterr().out


class TestPreview:
    def test_divides_a_file_or_document_and_stores_nothing(
        self, plan: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        plan.write_text("# Plan\n\n" + "The plan has many words. " * 200)
        shown = answered(capsys, "knowledge", "preview", "Plans", str(plan), "--tokens", "100", "--overlap", "0")
        assert (shown["passages"] > 5, shown["largest"] <= 100) == (True, True)
        assert answered(capsys, "knowledge", "status", "Plans") == []
        document = added(capsys, plan)
        whole = answered(capsys, "knowledge", "preview", "Plans", "--document", "plan.txt")
        assert whole["passages"] == document["passages"]
        assert run(["knowledge", "preview", "Plans"]) == INVALID
