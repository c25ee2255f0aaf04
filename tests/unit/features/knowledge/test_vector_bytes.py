"""Vectors as bytes."""

import numpy as np
import pytest

from headgate.features.knowledge.index import vector_bytes
from headgate.features.knowledge.index.vector_bytes import cosines, decode, encode


@pytest.mark.parametrize("count", [1, 3, 4, 11])
def test_cosines_are_those_of_the_decoded_vectors(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(vector_bytes, "_BLOCK", 4)
    drawn = np.random.default_rng(24).standard_normal((count + 1, 16)).astype(np.float32)
    stored = [encode(vector) for vector in drawn[1:]]
    asked = drawn[0] / np.linalg.norm(drawn[0])
    assert cosines(stored, asked) == pytest.approx(decode(stored) @ asked, abs=1e-6)
    assert np.linalg.norm(decode(stored), axis=1) == pytest.approx(np.ones(count))
