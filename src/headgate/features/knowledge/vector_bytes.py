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


def encode(vector: Sequence[float]) -> bytes:
    """Return a vector, which is not zero, as it is stored."""
    exact = np.asarray(vector, dtype=np.float32)
    small = np.rint(exact * (_MOST / np.abs(exact).max())).astype(np.int8)
    inverse = 1 / np.linalg.norm(small.astype(np.float32))
    return bytes(np.asarray(inverse, dtype="<f4").tobytes() + small.tobytes())


def decode(vectors: Sequence[bytes]) -> "np.ndarray":
    """Return stored vectors of one size, at least one, as rows of length 1."""
    stored = np.frombuffer(b"".join(vectors), dtype=np.uint8).reshape(len(vectors), -1)
    inverse = np.ascontiguousarray(stored[:, :HEAD]).view("<f4")
    return np.asarray(stored[:, HEAD:].view(np.int8).astype(np.float32) * inverse)
