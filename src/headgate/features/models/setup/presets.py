"""Kinds of servers that users run, with the address that each listens on by default."""

from dataclasses import dataclass

from headgate.features.models.setup.values import ServerKind


@dataclass(frozen=True, slots=True)
class Preset:
    """One kind of server."""

    id: str
    label: str
    kind: ServerKind
    address: str
    key: bool
    """Whether it needs a key."""
    docs: str


PRESETS = (
    Preset("vllm", "vLLM", "openai", "http://localhost:8000/v1", key=False, docs="https://docs.vllm.ai"),
    Preset("lm_studio", "LM Studio", "openai", "http://localhost:1234/v1", key=False, docs="https://lmstudio.ai/docs"),
    Preset("litellm", "LiteLLM", "openai", "http://localhost:4000/v1", key=True, docs="https://docs.litellm.ai"),
    Preset(
        "openrouter",
        "OpenRouter",
        "openai",
        "https://openrouter.ai/api/v1",
        key=True,
        docs="https://openrouter.ai/docs",
    ),
    Preset(
        "llama_cpp",
        "llama.cpp",
        "openai",
        "http://localhost:8080/v1",
        key=False,
        docs="https://github.com/ggml-org/llama.cpp",
    ),
    Preset("ollama", "Ollama", "ollama", "http://localhost:11434", key=False, docs="https://docs.ollama.com"),
)
