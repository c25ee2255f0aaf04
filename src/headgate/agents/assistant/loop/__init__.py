"""The loop of model and tools that every turn is worked on in; its modules import LangChain."""
