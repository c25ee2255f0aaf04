"""Every setting of Headgate. `docs/reference/settings.md` is generated from them.

Read from the environment with the prefix `HEADGATE_` and `__` between group and name, for example
`HEADGATE_DATABASE__URL` or `HEADGATE_SERVER__PORT`; or from a `.env` file in the working directory.
"""

from headgate.foundation.settings.accounts import AccountSettings
from headgate.foundation.settings.assistant import AssistantSettings
from headgate.foundation.settings.backup import BackupSettings
from headgate.foundation.settings.classification import ClassificationSettings
from headgate.foundation.settings.codev import CodevSettings, FlowiseInstance
from headgate.foundation.settings.connections import ConnectionSettings
from headgate.foundation.settings.database import DatabaseSettings
from headgate.foundation.settings.engine import CelerySettings, EngineSettings
from headgate.foundation.settings.http import HttpSettings
from headgate.foundation.settings.mcp import McpSettings
from headgate.foundation.settings.models import ModelSettings
from headgate.foundation.settings.outgoing import OutgoingSettings
from headgate.foundation.settings.quotas import QuotaSettings
from headgate.foundation.settings.rate_limits import RateLimitSettings
from headgate.foundation.settings.root import Settings
from headgate.foundation.settings.sandbox import SandboxSettings
from headgate.foundation.settings.server import ServerSettings
from headgate.foundation.settings.single_sign_on import LOOPBACK_NAMES, SingleSignOnSettings
from headgate.foundation.settings.storage import LimitSettings, RetentionSettings, StorageSettings
from headgate.foundation.settings.telemetry import LogSettings, TelemetrySettings
from headgate.foundation.settings.units import MEBIBYTE

__all__ = [
    "LOOPBACK_NAMES",
    "MEBIBYTE",
    "AccountSettings",
    "AssistantSettings",
    "BackupSettings",
    "CelerySettings",
    "ClassificationSettings",
    "CodevSettings",
    "ConnectionSettings",
    "DatabaseSettings",
    "EngineSettings",
    "FlowiseInstance",
    "HttpSettings",
    "LimitSettings",
    "LogSettings",
    "McpSettings",
    "ModelSettings",
    "OutgoingSettings",
    "QuotaSettings",
    "RateLimitSettings",
    "RetentionSettings",
    "SandboxSettings",
    "ServerSettings",
    "Settings",
    "SingleSignOnSettings",
    "StorageSettings",
    "TelemetrySettings",
]
