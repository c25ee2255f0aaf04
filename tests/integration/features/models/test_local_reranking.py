"""Local rerank models: a cross-encoder run by the real llama.cpp, compared with NumPy."""

import hashlib
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.features.models.errors import BadModelSettings, LocalModelMissing
from headgate.features.models.local import store, weights
from headgate.features.models.local.conversion import convert
from headgate.features.models.local.fetching import LocalFetches
from headgate.features.models.local.models import LocalModels
from headgate.features.models.local.store import use_file
from headgate.features.models.local.windows import WINDOW
from headgate.features.models.reranking import Reranked, rerank
from headgate.features.models.service import list_providers
from headgate.sdk.values import Model
from tests.support import scripted_bert
from tests.support.direct import DIRECT
from tests.support.keys import GivenKeys
from tests.support.range_server import RangeServer
from tests.support.web import open_web

QUERY = ["the", "car"]


@pytest.fixture(scope="module")
def tensors() -> dict[str, scripted_bert.Vector]:
    return scripted_bert.make_tensors()


@pytest.fixture(scope="module")
def folder(tensors: dict[str, scripted_bert.Vector], tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made")
    weights, vocabulary = scripted_bert.write_published(made, tensors)
    convert(weights, vocabulary, made / "bert.gguf", "made")
    return made


@pytest.fixture(scope="module")
def head(folder: Path) -> dict[str, scripted_bert.Vector]:
    return scripted_bert.write_reranker(folder / "bert.gguf", folder / "ranks.gguf")


@pytest.fixture(scope="module")
def local(folder: Path, head: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModels]:
    models = LocalModels(models_dir=tmp_path_factory.mktemp("models"))
    for name in ("bert", "ranks"):
        use_file(models.models_dir, folder / f"{name}.gguf", name)
    yield models
    models.close()


async def reranked(local: LocalModels | None, *texts: str, model: str = "local/ranks") -> Reranked:
    return await rerank(Model.model_validate(model), " ".join(QUERY), texts, GivenKeys(), web=open_web(), local=local)


class TestLocalReranking:
    async def test_returns_the_scores_of_the_cross_encoder(
        self, local: LocalModels, tensors: dict[str, scripted_bert.Vector], head: dict[str, scripted_bert.Vector]
    ) -> None:
        texts = [["holiday", "days"], ["the", "garage", "of", "the", "car"], ["vacation", "each", "year"]]
        answer = await reranked(local, *(" ".join(text) for text in texts))
        expected = [scripted_bert.rank_of(tensors, head, QUERY, text) for text in texts]
        assert answer.scores == pytest.approx(expected, abs=0.15), "the weights have 8 bits a value"
        assert max(expected) - min(expected) > 1, "the scores of these texts differ"
        assert answer.tokens == sum(2 + len(QUERY) + len(text) for text in texts)

    async def test_scores_a_long_text_by_its_best_part(self, local: LocalModels) -> None:
        text = "holiday " * 149 + "garage " * 171
        parts = textwrap.wrap(text, WINDOW, replace_whitespace=False)
        whole, *scores = (await reranked(local, text, *parts)).scores
        assert len(parts) == 2
        assert whole == pytest.approx(max(scores))
        assert max(scores) - min(scores) > 0.2

    async def test_scores_a_text_of_many_tokens_in_smaller_parts(self, local: LocalModels) -> None:
        answer = await reranked(local, "." * 3_000, "car")
        assert len(answer.scores) == 2
        assert answer.tokens is not None
        assert answer.tokens > 3_000

    async def test_is_for_reranking_only(self, local: LocalModels, folder: Path, tmp_path: Path) -> None:
        assert [model.name for model in local.ready("rerank")] == ["ranks"]
        assert [model.name for model in local.ready("embedding")] == ["bert"]
        assert not next(one for one in await list_providers(GivenKeys(), local=local) if one.id == "local").configured
        scripted_bert.write_reranker(folder / "bert.gguf", tmp_path / "older.gguf", pooling=False)
        assert [model.name for model in LocalModels(models_dir=tmp_path).ready("rerank")] == ["older"]

    async def test_refuses_other_models(self, local: LocalModels) -> None:
        with pytest.raises(BadModelSettings, match="only embeds texts") as caught:
            await reranked(local, "car", model="local/bert")
        assert "local/ranks" in caught.value.remedy
        with pytest.raises(BadModelSettings, match="only reranks texts"):
            local.client("ranks", "embedding")
        with pytest.raises(LocalModelMissing):
            await reranked(local, "car", model="local/none")
        with pytest.raises(BadModelSettings, match="disabled"):
            await reranked(None, "car")


class TestAModelToPull:
    async def test_is_fetched_by_hash_and_reranks(
        self, folder: Path, head: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        content = (folder / "ranks.gguf").read_bytes()
        known = next(one for one in weights.WEIGHTS.values() if one.use == "rerank")
        small = replace(known, size=len(content), sha256=hashlib.sha256(content).hexdigest())
        for module in (weights, store):
            monkeypatch.setattr(module, "WEIGHTS", {known.name: small})
        models = LocalModels(models_dir=tmp_path / "models")
        try:
            with RangeServer(len(content), lambda start, end: content[start:end]) as server:
                fetches = LocalFetches(models, DIRECT, f"{server.origin}/weights")
                assert [(one.use, one.ready) for one in fetches.list_models()] == [("rerank", False)]
                with pytest.raises(LocalModelMissing) as caught:
                    await reranked(models, "car", model=f"local/{known.name}")
                assert f"headgate models pull {known.name}" in caught.value.remedy
                fetch = fetches.start(known.name)
                assert fetch.ended.wait(30)
                assert (fetch.failed, fetch.done) == (False, len(content)), fetch.detail
            answer = await reranked(models, "holiday days", "the car", model=f"local/{known.name}")
            assert len(set(answer.scores)) == 2
        finally:
            models.close()

    @pytest.mark.parametrize("name", ["bge-reranker-v2-m3", "bge-m3"])
    def test_is_pinned_to_a_revision(self, name: str) -> None:
        known = weights.find_weights(name)
        revision = known.url.split("/resolve/")[1].partition("/")[0]
        assert len(revision) == 40, "a name such as main is moved, and the hash no longer matches"
        assert len(known.sha256) == 64
