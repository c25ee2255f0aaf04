"""The loop of model and tools that executes every turn; its modules import LangChain."""
