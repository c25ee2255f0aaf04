"""Operations on stored flows, their runs and a user's files: what an MCP client calls, each on its own."""

from headgate.toolkit.stored.operation import Operation
from headgate.toolkit.stored.visit import Studio, Visit

__all__ = ["Operation", "Studio", "Visit"]
