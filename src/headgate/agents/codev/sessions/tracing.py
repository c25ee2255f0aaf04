"""LangSmith (DD-027): only if the operator enabled it, never by an environment variable alone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from langsmith import Client
from langsmith.run_helpers import tracing_context

from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from headgate.foundation.guarded_http.requests_session import guarded_session
from headgate.foundation.settings import CodevSettings, OutgoingSettings

KEY, PROJECT = "LANGSMITH_API_KEY", "LANGSMITH_PROJECT"
DEFAULT_PROJECT = "headgate-development"


@contextmanager
def traced(settings: CodevSettings, outgoing: OutgoingSettings) -> Iterator[None]:
    """Within it LangChain and LangGraph send traces, or surely none."""
    enabled = settings.langsmith and bool(os.environ.get(KEY, "").strip())
    client = Client(session=guarded_session(OPERATOR_NETWORKS, outgoing)) if enabled else None
    with tracing_context(enabled=enabled, project_name=os.environ.get(PROJECT) or DEFAULT_PROJECT, client=client):
        yield
