"""What is logged while a test does something."""

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import structlog
from structlog.testing import capture_logs


@contextmanager
def captured_logs() -> Iterator[list[MutableMapping[str, Any]]]:
    """Every entry of every level, whatever level an earlier test in this process asked for."""
    structlog.reset_defaults()
    with capture_logs() as logs:
        yield logs
