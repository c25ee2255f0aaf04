"""Converts the weights of an embedding model as published, safetensors of the BERT architecture, to GGUF."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.features.models.errors import BadModelFile
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    import gguf
    import numpy as np
else:
    gguf = lazy_module("gguf")
    np = lazy_module("numpy")

_ARCHITECTURE = "bert"
_HEAD_WIDTH = 32
_NORM_EPSILON = 1e-12
_SPECIAL = {"[UNK]": "unk", "[PAD]": "pad", "[SEP]": "sep", "[MASK]": "mask", "[CLS]": "bos"}
"""Tokens with a meaning of their own, and their names in GGUF."""
_HALVED = "token_embd.weight"


def convert(path: Path, vocabulary: Path, target: Path, name: str) -> None:
    """Write safetensors as a GGUF file. Raises `BadModelFile`; then nothing is at `target`.

    Args:
        path: The weights.
        vocabulary: The tokens, one a line.
        target: The new file.
        name: What the model is called in the file and in messages.
    """
    converted = target.with_suffix(".converting")
    try:
        tokens = vocabulary.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        _write(converted, dict(_tensors(path)), tokens, name)
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        converted.unlink(missing_ok=True)
        raise BadModelFile(f"{name} cannot be converted to GGUF: {error}.", remedy="Pull it again.") from error
    converted.replace(target)


def _tensors(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield name and values of each tensor of numbers. Source: the format description of safetensors."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    start = 8 + length
    for name, about in json.loads(content[8:start]).items():
        if about.get("dtype") == "F32":
            first, end = about["data_offsets"]
            values = np.frombuffer(content[start + first : start + end], dtype=np.float32)
            yield name, values.reshape(about["shape"])


def _write(path: Path, tensors: dict[str, Any], tokens: list[str], name: str) -> None:
    if len(tokens) != len(tensors["embeddings.word_embeddings.weight"]):
        raise ValueError(f"{len(tokens)} tokens for {len(tensors['embeddings.word_embeddings.weight'])} embeddings")
    layers = sum(key.endswith("attention.self.query.weight") for key in tensors)
    writer = gguf.GGUFWriter(path, _ARCHITECTURE)
    width = tensors["embeddings.word_embeddings.weight"].shape[1]
    writer.add_name(name)
    writer.add_context_length(tensors["embeddings.position_embeddings.weight"].shape[0])
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(tensors["encoder.layer.0.intermediate.dense.weight"].shape[0])
    writer.add_head_count(width // _HEAD_WIDTH)
    writer.add_layer_norm_eps(_NORM_EPSILON)
    writer.add_causal_attention(value=False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    _describe_tokens(writer, tokens)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, layers)
    for key, values in tensors.items():
        target = names.get_name(key, try_suffixes=(".weight", ".bias"))
        if target is not None:  # the pooler is not used
            _add_tensor(writer, target, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_tensor(writer: "gguf.GGUFWriter", name: str, values: Any) -> None:  # noqa: ANN401 - a numpy array
    """Add a tensor: matrices of the layers with 8 bits a value (a third faster, same order), norms as they are."""
    if name.startswith("blk.") and values.ndim > 1:
        kind = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    else:
        writer.add_tensor(name, values.astype(np.float16) if name == _HALVED else values)


def _describe_tokens(writer: "gguf.GGUFWriter", tokens: list[str]) -> None:
    writer.add_tokenizer_model(_ARCHITECTURE)
    writer.add_tokenizer_pre("default")
    writer.add_token_type_count(2)
    writer.add_token_list([_as_in_gguf(token).encode() for token in tokens])
    writer.add_token_types([_type_of(token) for token in tokens])
    for token, role in _SPECIAL.items():
        getattr(writer, f"add_{role}_token_id")(tokens.index(token))
    writer.add_eos_token_id(tokens.index("[SEP]"))


def _as_in_gguf(token: str) -> str:
    """Return a token as GGUF writes it: the start of a word is marked, not its continuation."""
    if token.startswith("[") and token.endswith("]"):
        return token
    return token.removeprefix("##") if token.startswith("##") else f"\u2581{token}"


def _type_of(token: str) -> int:
    if token in _SPECIAL:
        return int(gguf.TokenType.CONTROL)
    return int(gguf.TokenType.UNUSED if token.startswith("[unused") else gguf.TokenType.NORMAL)
