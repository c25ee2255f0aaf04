"""An embedding model of the BERT architecture with random weights, as it is published, and its vectors in NumPy.

Also a cross-encoder made of it, and its scores.
"""

import json
import math
import struct
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
WIDTH, INNER, LAYERS, POSITIONS, HEAD = 64, 128, 2, 512, 32
WORDS = ["holiday", "vacation", "car", "garage", "days", "each", "year", "the", "of"]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, "##s", "."]


def make_tensors(seed: int = 1) -> dict[str, Vector]:
    """Return weights by the names that published models have."""
    random = np.random.default_rng(seed)

    def matrix(*shape: int, spread: float = 0.3) -> Vector:
        return random.normal(0, spread, shape).astype(np.float32)

    tensors: dict[str, Vector] = {
        "embeddings.word_embeddings.weight": matrix(len(VOCABULARY), WIDTH),
        "embeddings.position_embeddings.weight": matrix(POSITIONS, WIDTH, spread=0.03),
        "embeddings.token_type_embeddings.weight": matrix(2, WIDTH, spread=0.03),
        "pooler.dense.weight": matrix(WIDTH, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        norms += [f"{prefix}.attention.output.LayerNorm", f"{prefix}.output.LayerNorm"]
        dense = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        dense |= {"attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (INNER, WIDTH)}
        dense |= {"output.dense": (WIDTH, INNER)}
        for name, shape in dense.items():
            tensors[f"{prefix}.{name}.weight"] = matrix(*shape)
            tensors[f"{prefix}.{name}.bias"] = matrix(shape[0])
    for name in norms:
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = 1 + matrix(WIDTH), matrix(WIDTH)
    return tensors


def write_published(folder: Path, tensors: dict[str, Vector]) -> tuple[Path, Path]:
    """Write the weights as safetensors and the vocabulary as text; return both paths."""
    header, blocks, end = {}, [], 0
    for name, values in tensors.items():
        block = values.astype(np.float32).tobytes()
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [end, end + len(block)]}
        blocks.append(block)
        end += len(block)
    text = json.dumps(header).encode()
    weights, vocabulary = folder / "model.safetensors", folder / "vocab.txt"
    weights.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blocks))
    vocabulary.write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return weights, vocabulary


def write_reranker(embedding: Path, target: Path, *, pooling: bool = True) -> dict[str, Vector]:
    """Write a converted model as a cross-encoder with a random head, and return the head.

    Args:
        embedding: The GGUF file of an embedding model.
        target: The new file.
        pooling: Whether the file says how it pools; files of older converters do not.
    """
    random = np.random.default_rng(3)
    shapes = {"cls.weight": (WIDTH, WIDTH), "cls.bias": (WIDTH,), "cls.output.weight": (1, WIDTH)}
    head = {name: random.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    head["cls.output.bias"] = np.zeros(1, np.float32)
    reader, writer = gguf.GGUFReader(embedding), gguf.GGUFWriter(target, "bert")
    for name, entry in reader.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        value, inner = entry.contents(), entry.types[1] if len(entry.types) > 1 else None
        if name.endswith("pooling_type"):
            if not pooling:
                continue
            value = gguf.PoolingType.RANK
        writer.add_key_value(name, value, entry.types[0], inner)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, np.array(tensor.data), raw_dtype=tensor.tensor_type)
    for name, values in head.items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return head


def rank_of(tensors: dict[str, Vector], head: dict[str, Vector], query: list[str], text: list[str]) -> float:
    """Return the score of a text for a query, both of known words, as the head of a cross-encoder computes it."""
    first = _states(tensors, ["[CLS]", *query, "[SEP]", *text])[0]
    return float((head["cls.output.weight"] @ np.tanh(head["cls.weight"] @ first + head["cls.bias"]))[0])


def vector_of(tensors: dict[str, Vector], words: list[str]) -> Vector:
    """Return the mean of the last states of a text of known words, with length 1."""
    mean = _states(tensors, ["[CLS]", *words, "[SEP]"]).mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


def _states(tensors: dict[str, Vector], tokens: list[str]) -> Vector:
    ids = [VOCABULARY.index(token) for token in tokens]
    states = tensors["embeddings.word_embeddings.weight"][ids]
    states = states + tensors["embeddings.position_embeddings.weight"][: len(ids)]
    states = _normal(tensors, "embeddings.LayerNorm", states + tensors["embeddings.token_type_embeddings.weight"][0])
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        attended = _dense(tensors, f"{prefix}.attention.output.dense", _attention(tensors, prefix, states))
        states = _normal(tensors, f"{prefix}.attention.output.LayerNorm", states + attended)
        inner = _dense(tensors, f"{prefix}.intermediate.dense", states)
        inner = inner * np.vectorize(lambda value: (1 + math.erf(value / math.sqrt(2))) / 2)(inner)
        states = _normal(
            tensors, f"{prefix}.output.LayerNorm", states + _dense(tensors, f"{prefix}.output.dense", inner)
        )
    return states


def _dense(tensors: dict[str, Vector], name: str, values: Vector) -> Vector:
    return values @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]


def _normal(tensors: dict[str, Vector], name: str, values: Vector) -> Vector:
    centred = values - values.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    return np.asarray(scaled * tensors[f"{name}.weight"] + tensors[f"{name}.bias"], np.float32)


def _attention(tensors: dict[str, Vector], prefix: str, states: Vector) -> Vector:
    query, key, value = (
        _dense(tensors, f"{prefix}.attention.self.{part}", states).reshape(len(states), -1, HEAD).swapaxes(0, 1)
        for part in ("query", "key", "value")
    )
    scores = query @ key.swapaxes(1, 2) / math.sqrt(HEAD)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = shares / shares.sum(axis=-1, keepdims=True)
    return np.asarray((shares @ value).swapaxes(0, 1).reshape(len(states), WIDTH), np.float32)
