"""Settings of stored data: location, size and retention."""

from typing import Literal, Self

from pydantic import BaseModel, Field, SecretStr, model_validator

from headgate.foundation.settings.units import MEBIBYTE


class LimitSettings(BaseModel, defer_build=True):
    """Caps on what a step may keep in the database."""

    max_inline_text_bytes: int = Field(default=MEBIBYTE, ge=256, description="Longer text becomes an artifact.")
    max_inline_json_bytes: int = Field(default=MEBIBYTE, ge=256, description="Larger JSON becomes an artifact.")
    max_inline_preview_bytes: int = Field(default=16_384, ge=64, description="Length of an artifact's preview.")
    max_artifact_bytes: int = Field(
        default=64 * MEBIBYTE, ge=1024, description=("Maximum size of an artifact of a step.")
    )


class StorageSettings(BaseModel, defer_build=True):
    """Where file contents are stored: uploads and run artifacts."""

    kind: Literal["local", "s3"] = Field(
        default="local",
        description="`local`: the folder `files` in the data folder. `s3`: a bucket; needs the extra `s3`.",
    )
    encrypt: bool = Field(
        default=False,
        description=(
            "Encrypt new files and conversations of every organisation, each with a separate key. "
            "For one organisation: `headgate encryption enable`. See `docs/operate/security.md`, "
            "Encryption at rest."
        ),
    )
    bucket: str = Field(default="", description="S3 only: the bucket. It must exist.")
    prefix: str = Field(default="", description="S3 only: prefix of every key, such as `headgate/production`.")
    region: str = Field(default="us-east-1", description="S3 only: the bucket's region.")
    endpoint_url: str = Field(
        default="", description="S3 only: URL of a compatible store, such as `https://minio.example.org:9000`."
    )
    path_style: bool = Field(
        default=True, description="S3 only: put the bucket name in the path, as most compatible stores require."
    )
    access_key_id: SecretStr | None = Field(
        default=None, description="S3 only: access key id. Empty: AWS's own variables, or the role of the machine."
    )
    secret_access_key: SecretStr | None = Field(default=None, description="S3 only: the key's secret.")

    @model_validator(mode="after")
    def _bucket_is_named(self) -> Self:
        if self.kind == "s3" and not self.bucket:
            raise ValueError("storage kind s3 requires a bucket")
        return self


class RetentionSettings(BaseModel, defer_build=True):
    """How long runs are kept, and what is tidied up."""

    run_days: int | None = Field(
        default=None,
        ge=1,
        description=(
            "Days after which an ended run is deleted with its files, unless its flow sets "
            "`data_retention_days`. Empty: runs are kept."
        ),
    )
    trash_days: int | None = Field(
        default=30,
        ge=1,
        description=(
            "Days after which the content of a deleted flow is deleted, so that it can no longer be restored. "
            "A flow with runs keeps its versions until its last run is deleted. Empty: flows stay in the trash."
        ),
    )
    session_days: int | None = Field(
        default=90,
        ge=1,
        description=(
            "Days after which an ended session of the development agent is deleted with its "
            "checkpoints and snapshots, so that it can no longer be rolled back. The flows it "
            "wrote are kept. Empty: sessions are kept."
        ),
    )
    waiting_session_days: int | None = Field(
        default=365,
        ge=1,
        description=(
            "The same for a session that waits for an answer, counted from the start of the wait. "
            "Empty: sessions are kept."
        ),
    )
    orphan_grace_minutes: int = Field(
        default=60, ge=1, description="Age at which an artifact without a result that refers to it counts as orphaned."
    )
    every_minutes: float = Field(default=60.0, gt=0, description="Interval of retention, the sweep and the other jobs.")
