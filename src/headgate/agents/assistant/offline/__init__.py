"""The offline assistant, without a language model: builds only what it can restate completely."""
