"""Where conversations are kept, by the settings."""

from importlib import import_module

from headgate.agents.assistant.memory.conversation import ConversationBuffer
from headgate.agents.assistant.memory.in_process import InProcessBuffer
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.foundation.settings import Settings


def open_conversations(settings: Settings, metrics: AssistantMetrics) -> ConversationBuffer:
    """In Redis with the engine `celery`, beside the live events; else in this process."""
    if settings.engine.backend != "celery":
        return InProcessBuffer(metrics)
    redis = import_module("headgate.agents.assistant.memory.in_redis")  # redis-py is an extra
    found: ConversationBuffer = redis.RedisBuffer(
        settings.celery.events_url, settings.assistant.memory_hours * 3600, metrics
    )
    return found
