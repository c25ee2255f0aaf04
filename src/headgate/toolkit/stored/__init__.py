"""Operations for MCP clients on stored flows, their runs and a user's files."""

from headgate.toolkit.stored.operation import Operation
from headgate.toolkit.stored.visit import Studio, Visit

__all__ = ["Operation", "Studio", "Visit"]
