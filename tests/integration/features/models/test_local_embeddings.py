"""Local embedding models: converted from what is published, run by the real llama.cpp, compared with NumPy."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from headgate.features.models.embeddings import Embedded, embed
from headgate.features.models.errors import BadModelFile, BadModelSettings, LocalModelMissing
from headgate.features.models.local.conversion import convert
from headgate.features.models.local.models import LocalModels
from headgate.features.models.local.store import default_models_dir, list_local, use_file
from headgate.features.models.local.windows import WINDOW
from headgate.features.models.service import create_chat_model, list_providers
from headgate.sdk.values import Model
from tests.support import scripted_bert
from tests.support.keys import GivenKeys
from tests.support.web import open_web

MODEL, REAL = "local/bert", "all-minilm-l6-v2"


@pytest.fixture(scope="module")
def tensors() -> dict[str, scripted_bert.Vector]:
    return scripted_bert.make_tensors()


@pytest.fixture(scope="module")
def local(tensors: dict[str, scripted_bert.Vector], tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalModels]:
    folder = tmp_path_factory.mktemp("models")
    weights, vocabulary = scripted_bert.write_published(folder, tensors)
    convert(weights, vocabulary, folder / "made.gguf", "made")
    use_file(folder, folder / "made.gguf", "bert")
    models = LocalModels(models_dir=folder)
    yield models
    models.close()


async def embedded(local: LocalModels | None, *texts: str, model: str = MODEL) -> Embedded:
    return await embed(Model.model_validate(model), texts, GivenKeys(), web=open_web(), local=local)


def nearness(one: object, other: object) -> float:
    left, right = np.asarray(one, np.float64), np.asarray(other, np.float64)
    return float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))


class TestConversion:
    async def test_gives_the_vectors_of_the_published_weights(
        self, local: LocalModels, tensors: dict[str, scripted_bert.Vector]
    ) -> None:
        texts = {"the holiday days.": ["the", "holiday", "days", "."], "Each car": ["each", "car"]}
        answer = await embedded(local, *texts, "cars of the garage")
        assert answer.tokens == 6 + 4 + 7
        for vector, words in zip(answer.vectors, [*texts.values(), ["car", "##s", "of", "the", "garage"]], strict=True):
            assert nearness(vector, scripted_bert.vector_of(tensors, words)) > 0.998
        assert nearness(answer.vectors[0], answer.vectors[1]) < 0.99

    def test_refuses_a_vocabulary_of_other_weights(
        self, tmp_path: Path, tensors: dict[str, scripted_bert.Vector]
    ) -> None:
        weights, vocabulary = scripted_bert.write_published(tmp_path, tensors)
        vocabulary.write_text("[PAD]\n[UNK]\n")
        with pytest.raises(BadModelFile, match="2 tokens for"):
            convert(weights, vocabulary, tmp_path / "new.gguf", "broken")
        assert list(tmp_path.glob("*.gguf")) == list(tmp_path.glob("*.converting")) == []

    @pytest.mark.parametrize("content", [b"", b"\xff" * 16, b"\2\0\0\0\0\0\0\0{}", b"\4\0\0\0\0\0\0\0[17]"])
    def test_refuses_what_is_no_weights(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "weights").write_bytes(content)
        (tmp_path / "words").write_text("[PAD]\n")
        with pytest.raises(BadModelFile, match="cannot be converted"):
            convert(tmp_path / "weights", tmp_path / "words", tmp_path / "new.gguf", "broken")


class TestLongTexts:
    async def test_are_embedded_whole(self, local: LocalModels) -> None:
        first, second = "holiday " * 140, "garage " * 160
        assert len(first) < WINDOW < len(first + second)
        whole, start, end = (await embedded(local, first + second, first, second)).vectors
        assert nearness(whole, end) > nearness(start, end)
        assert nearness(whole, start) > nearness(start, end)

    async def test_of_many_tokens_are_embedded_in_smaller_windows(self, local: LocalModels) -> None:
        answer = await embedded(local, "." * 3_000, "car")
        assert len(answer.vectors) == 2
        assert answer.tokens is not None
        assert answer.tokens > 3_000


class TestUse:
    async def test_is_found_in_the_file(self, local: LocalModels) -> None:
        assert [model.name for model in local.ready("embedding")] == ["bert", "made"]
        assert local.ready() == []
        assert {model.name: model.use for model in list_local(local.models_dir)}[REAL] == "embedding"

    async def test_an_embedding_model_is_no_chat_model(self, local: LocalModels) -> None:
        status = next(one for one in await list_providers(GivenKeys(), local=local) if one.id == "local")
        assert not status.configured
        with pytest.raises(BadModelSettings, match="only embeds texts"):
            await create_chat_model(Model.model_validate(MODEL), GivenKeys(), local=local, web=open_web())

    async def test_a_chat_model_is_no_embedding_model(self, local: LocalModels, tmp_path: Path) -> None:
        use_file(tmp_path, local.models_dir / "bert.gguf", "bert")
        (tmp_path / "talks.gguf").write_bytes(b"GGUF" + b"\0" * 2_000)
        with pytest.raises(BadModelSettings, match="is a chat model") as caught:
            await embedded(LocalModels(models_dir=tmp_path), "x", model="local/talks")
        assert "local/bert" in caught.value.remedy

    async def test_says_how_to_install_it(self, local: LocalModels) -> None:
        with pytest.raises(LocalModelMissing) as caught:
            await embedded(local, "x", model=f"local/{REAL}")
        assert f"headgate models pull {REAL}" in caught.value.remedy
        with pytest.raises(BadModelSettings, match="disabled"):
            await embedded(None, "x")


@pytest.mark.skipif(not (default_models_dir() / f"{REAL}.gguf").is_file(), reason=f"headgate models pull {REAL}")
class TestRealModel:
    async def test_knows_synonyms(self) -> None:
        local = LocalModels()
        try:
            answer = await embedded(
                local, "days of vacation", "holiday allowance", "parking spaces", model=f"local/{REAL}"
            )
        finally:
            local.close()
        question, synonym, other = answer.vectors
        assert nearness(question, synonym) > nearness(question, other) + 0.1
