"""Settings of connections."""

from pathlib import Path

from pydantic import BaseModel, Field, SecretStr


class FolderSettings(BaseModel, defer_build=True):
    """A folder of the server that connections of the kind local folder may name."""

    path: str = Field(
        description="Absolute path; `{tenant_id}` and `{space_id}` are replaced, so that organisations have their own.",
        pattern=r"^/|^[A-Za-z]:",
    )
    writable: bool = Field(default=False, description="Whether flows may write, move and delete files in it.")


class ConnectionSettings(BaseModel, defer_build=True):
    """Connections, and the outside values that they may refer to."""

    environment: list[str] = Field(
        default=[],
        description="Environment variables that connections may refer to: every admin of an organisation can use them.",
    )
    files: Path | None = Field(
        default=None,
        description=(
            "Folder with files that connections may refer to, such as `/run/secrets`. Each organisation reads only the "
            "folder in it that is named after its id."
        ),
    )
    vault_url: str | None = Field(
        default=None,
        description="URL of a HashiCorp Vault or OpenBao server whose values (KV version 2) connections may refer to.",
    )
    vault_mount: str = Field(default="secret", description="Mount of the KV engine.")
    vault_prefix: str = Field(
        default="headgate/{tenant_id}/",
        description=(
            "Path below which references are read; `{tenant_id}` and `{space_id}` are replaced, so that organisations "
            "do not read each other's values."
        ),
    )
    vault_namespace: str = Field(default="", description="Namespace of the vault (`X-Vault-Namespace`).")
    vault_token: SecretStr | None = Field(default=None, description="Token for the vault.")
    vault_token_file: Path | None = Field(
        default=None, description="File with the token, read again when it changes, such as that of a Vault agent."
    )
    cloud_prefix: str = Field(
        default="headgate-{tenant_id}-",
        description=(
            "Start of the names of secrets in the stores of AWS, Google and Azure that connections may refer to; "
            "`{tenant_id}` and `{space_id}` are replaced."
        ),
    )
    aws_region: str = Field(
        default="",
        pattern="^[a-z0-9-]*$",
        description="Region of AWS Secrets Manager. AWS's library finds the credentials (`headgate[aws-secrets]`).",
    )
    aws_url: str | None = Field(
        default=None, description="URL of AWS Secrets Manager when it is not that of the region."
    )
    google_project: str = Field(
        default="",
        pattern="^[a-z0-9:.-]*$",
        description="Project of Google Secret Manager. Google's library finds the credentials "
        "(`headgate[google-secrets]`).",
    )
    google_url: str = Field(default="https://secretmanager.googleapis.com", description="URL of Google Secret Manager.")
    azure_url: str = Field(
        default="",
        description="URL of an Azure key vault. Azure's library finds the credentials (`headgate[azure-secrets]`).",
    )
    folders: dict[str, FolderSettings] = Field(
        default={},
        description=(
            "Folders of the server that flows may read, by name, as JSON: "
            '`{"reports": {"path": "/srv/reports/{tenant_id}", "writable": true}}`. An admin of an organisation adds '
            "the connection."
        ),
    )
    cache_seconds: float = Field(
        default=300.0, ge=0, le=3600, description="How long outside values are kept in memory; they are never stored."
    )
    test_seconds: float = Field(default=15.0, gt=0, le=120, description="Timeout of a connection test.")
