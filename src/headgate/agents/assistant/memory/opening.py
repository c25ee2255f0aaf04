"""Selects the storage of conversations by the settings."""

from importlib import import_module

from headgate.agents.assistant.memory.conversation import ConversationBuffer
from headgate.agents.assistant.memory.in_database import DatabaseBuffer
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.features.encryption.keys import DataKeys
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings


def open_conversations(
    settings: Settings, database: Database, metrics: AssistantMetrics, keys: DataKeys
) -> ConversationBuffer:
    """Return storage in Redis with the engine `celery`, next to the live events; otherwise in the database."""
    keep_seconds = settings.assistant.memory_hours * 3600
    if settings.engine.backend != "celery":
        return DatabaseBuffer(database, keep_seconds, keys, metrics)
    redis = import_module("headgate.agents.assistant.memory.in_redis")  # redis-py is an extra
    shared: ConversationBuffer = redis.RedisBuffer(settings.celery.events_url, keep_seconds, keys, metrics)
    return shared
