"""What a vector is in the database: the inverse of its length, a 32-bit float, and its components, each one byte."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

HEAD = 4
"""Bytes before the components."""
_MOST = 127
_BLOCK = 1_000
"""Vectors whose components are floats at once."""


def encode(vector: Sequence[float]) -> bytes:
    """Return a vector, which is not zero, as it is stored."""
    exact = np.asarray(vector, dtype=np.float32)
    small = np.rint(exact * (_MOST / np.abs(exact).max())).astype(np.int8)
    inverse = 1 / np.linalg.norm(small.astype(np.float32))
    return bytes(np.asarray(inverse, dtype="<f4").tobytes() + small.tobytes())


def cosines(vectors: Sequence[bytes], asked: "np.ndarray") -> "np.ndarray":
    """Return the cosines of stored vectors of one size, at least one, with a vector of length 1.

    Components become floats a block at a time, which stays in the cache of the processor.
    """
    inverse, small = _parts(vectors)
    blocks = (small[at : at + _BLOCK].astype(np.float32) @ asked for at in range(0, len(small), _BLOCK))
    return np.asarray(np.concatenate(list(blocks)) * inverse[:, 0])


def decode(vectors: Sequence[bytes]) -> "np.ndarray":
    """Return stored vectors of one size, at least one, as rows of length 1."""
    inverse, small = _parts(vectors)
    return np.asarray(small.astype(np.float32) * inverse)


def _parts(vectors: Sequence[bytes]) -> tuple["np.ndarray", "np.ndarray"]:
    """Return the inverse lengths, as a column, and the components."""
    stored = np.frombuffer(b"".join(vectors), dtype=np.uint8).reshape(len(vectors), -1)
    return np.ascontiguousarray(stored[:, :HEAD]).view("<f4"), stored[:, HEAD:].view(np.int8)
