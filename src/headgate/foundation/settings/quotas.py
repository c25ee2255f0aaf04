"""Settings of quotas."""

from pydantic import BaseModel, Field

_TENANT = "of an organisation; 0: no limit. Its admins may set less."
_SPACE = "of each space; 0: no limit. Admins of its organisation may set less."
_VISITOR = "of each visitor of a public page, by network address; 0: no limit. Admins may set less."


class QuotaSettings(BaseModel, defer_build=True):
    """What organisations, spaces and visitors may use at most. Above it starts and files are refused."""

    tenant_runs: int = Field(default=0, ge=0, description=f"Queued and running runs {_TENANT}")
    tenant_runs_per_hour: int = Field(default=0, ge=0, description=f"Runs started within one hour {_TENANT}")
    tenant_tokens_per_day: int = Field(default=0, ge=0, description=f"Tokens per day (UTC) {_TENANT}")
    tenant_tokens_per_month: int = Field(default=0, ge=0, description=f"Tokens per month (UTC) {_TENANT}")
    space_runs: int = Field(default=0, ge=0, description=f"Queued and running runs {_SPACE}")
    space_runs_per_hour: int = Field(default=0, ge=0, description=f"Runs started within one hour {_SPACE}")
    space_tokens_per_day: int = Field(default=0, ge=0, description=f"Tokens per day (UTC) {_SPACE}")
    space_tokens_per_month: int = Field(default=0, ge=0, description=f"Tokens per month (UTC) {_SPACE}")
    visitor_runs: int = Field(default=20, ge=0, description=f"Queued and running runs {_VISITOR}")
    visitor_runs_per_hour: int = Field(default=0, ge=0, description=f"Runs started within one hour {_VISITOR}")
    visitor_tokens_per_day: int = Field(default=0, ge=0, description=f"Tokens per day (UTC) {_VISITOR}")
    visitor_tokens_per_month: int = Field(default=0, ge=0, description=f"Tokens per month (UTC) {_VISITOR}")
    tenant_storage_bytes: int = Field(
        default=0, ge=0, description=f"Bytes of stored files, including uploads and files created by runs, {_TENANT}"
    )
    space_storage_bytes: int = Field(default=0, ge=0, description=f"Bytes of files created or used by runs {_SPACE}")
    visitor_storage_bytes: int = Field(default=0, ge=0, description=f"Bytes of files created by runs {_VISITOR}")
    tenant_sandbox_places: int = Field(
        default=0,
        ge=0,
        description=(
            "Concurrent sandbox processes of an organisation, each with at most "
            "HEADGATE_SANDBOX__MEMORY_MB of memory; 0: no limit. Further calls wait."
        ),
    )
    space_sandbox_places: int = Field(default=0, ge=0, description="The same for each space; 0: no limit.")
    user_sandbox_places: int = Field(
        default=0, ge=0, description="The same for each user of a space, and each visitor; 0: no limit."
    )
