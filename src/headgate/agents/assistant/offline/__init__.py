"""The assistant without a language model: builds only what it can restate in full."""
