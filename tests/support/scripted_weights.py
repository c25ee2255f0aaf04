"""Model weights that give scripted replies, for a real llama.cpp server: 50,000 parameters, exact and fast.

The vocabulary has every byte, one control token per reply, and each reply as one token. The chat template ends a prompt
with the control token of the first reply whose condition holds. Attention and feed-forward weights are zero and the
embeddings are orthogonal, so the next token depends on the last one alone: control token, reply, end of text.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

CONTEXT = 65_536
"""Tokens, here bytes, that the server keeps in view: the assistant's prompt and tools are about 30,000."""
TOKEN = "sk-local-1"
_WIDTH, _HEAD = 64, 32
_MESSAGES = """{%- for message in messages %}<|im_start|>{{ message.role }}
{% if message.content %}{{ message.content }}{% endif %}{% for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if tools %}<tools>{% for tool in tools %}{{ tool | tojson }}
{% endfor %}</tools>{% endif %}"""
_UNKNOWN, _CONTROL, _NORMAL, _BYTE = 2, 3, 1, 6  # token types of llama.cpp


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply, and the Jinja condition on `messages` and `tools` under which the model gives it."""

    condition: str
    text: str


def tool_call(name: str, **arguments: str) -> str:
    """The text of a tool call, as this template's models write it."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def write_weights(path: Path, replies: Sequence[Reply]) -> None:
    """Write a GGUF file whose model gives these replies; the last one needs the condition `true`."""
    tokens = [b"<unk>", b"<s>", b"</s>", *(b"<0x%02X>" % byte for byte in range(256)), b"<|im_start|>", b"<|im_end|>"]
    types = [_UNKNOWN, _CONTROL, _CONTROL, *[_BYTE] * 256, _CONTROL, _CONTROL]
    states = len(tokens)
    texts = states + len(replies)
    tokens += [_state(number).encode() for number in range(len(replies))]
    tokens += [reply.text.encode() for reply in replies]
    types += [_CONTROL] * len(replies) + [_NORMAL] * len(replies)
    embedding, output = _zeros(len(tokens), _WIDTH), _zeros(len(tokens), _WIDTH)
    for number in range(len(replies)):
        embedding[states + number, number] = embedding[texts + number, _HEAD + number] = 1
        output[texts + number, number] = output[2, _HEAD + number] = 10
    writer = gguf.GGUFWriter(path, "llama")
    _describe(writer, tokens, types, _MESSAGES + _choice(replies))
    for name, values in _tensors(embedding, output).items():
        writer.add_tensor(f"{name}.weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@contextmanager
def llama_cpp_server(weights: Path) -> Iterator[str]:
    """A llama.cpp server with these weights in a process of its own; gives its base URL, which ends with /v1."""
    command = [sys.executable, "-m", "headgate.features.models.local.serve"]
    settings = {
        "path": str(weights),
        "token": TOKEN,
        "threads": 1,
        "context": CONTEXT,
        "use": "chat",
        "sleep_after": 600,
    }
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(settings) + "\n")
        process.stdin.flush()
        yield json.loads(process.stdout.readline())["url"] + "/v1"
        process.stdin.close()


def _state(number: int) -> str:
    return f"<|reply_{number}|>"


def _choice(replies: Sequence[Reply]) -> str:
    branches = [f"{{% elif {reply.condition} %}}{_state(number)}" for number, reply in enumerate(replies)]
    start = "{%- if add_generation_prompt %}<|im_start|>assistant\n{% if false %}"
    return start + "".join(branches) + "{% endif %}{% endif %}"


def _describe(writer: gguf.GGUFWriter, tokens: list[bytes], types: list[int], template: str) -> None:
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(_HEAD)
    writer.add_head_count(_WIDTH // _HEAD)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(_HEAD)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(template)


def _tensors(embedding: npt.NDArray[np.float32], output: npt.NDArray[np.float32]) -> dict[str, npt.NDArray[np.float32]]:
    ones = np.ones(_WIDTH, np.float32)
    return {
        "token_embd": embedding,
        "output_norm": ones,
        "output": output,
        "blk.0.attn_norm": ones,
        "blk.0.ffn_norm": ones,
        "blk.0.attn_q": _zeros(_WIDTH, _WIDTH),
        "blk.0.attn_k": _zeros(_HEAD, _WIDTH),
        "blk.0.attn_v": _zeros(_HEAD, _WIDTH),
        "blk.0.attn_output": _zeros(_WIDTH, _WIDTH),
        "blk.0.ffn_gate": _zeros(_HEAD, _WIDTH),
        "blk.0.ffn_up": _zeros(_HEAD, _WIDTH),
        "blk.0.ffn_down": _zeros(_WIDTH, _HEAD),
    }


def _zeros(*shape: int) -> npt.NDArray[np.float32]:
    return np.zeros(shape, np.float32)
