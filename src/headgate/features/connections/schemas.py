"""API schemas of connections. No response contains a secret."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, SecretStr

from headgate.features.connections.kinds import Adds, Category, FieldType, Grant, Ownership
from headgate.features.connections.sealed import OutsideValue
from headgate.foundation.names import Name

ConnectionName = Annotated[Name, Field(max_length=64)]
GivenSecrets = dict[str, SecretStr | OutsideValue]
Status = Literal["untested", "ready", "failed", "unauthorized", "rejected", "pending"]
"""`unauthorized`: it cannot be used before a user authorizes it. `rejected`: a server answered 401 to its access token,
which cannot be refreshed; runs still use it, and a user should authorize it again."""
_SECRETS = (
    "Secret fields of the kind, stored encrypted and never returned. A value is text, or a reference to a value "
    'outside: `{"from": "vault", "path": "crm", "key": "token"}`.'
)


MaxConcurrent = Annotated[
    int | None,
    Field(ge=1, le=100_000, description="Steps that may use it at the same time, others wait; null: any number."),
]


class SpaceConnectionIn(BaseModel):
    """A connection to add."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    name: ConnectionName = Field(
        description="Lower-case letters, digits, - and _; flows refer to the connection by it.", examples=["crm"]
    )
    kind: str = Field(description="Id of the kind; `GET /api/v1/connections/kinds` lists them.")
    fields: dict[str, JsonValue] = Field(default_factory=dict, description="Fields that are no secret.")
    secrets: GivenSecrets = Field(default_factory=dict, description=_SECRETS)
    personal: bool = Field(default=False, description="Whether only runs that you start may use it.")
    classification: int | None = Field(
        default=None, ge=0, description="Highest classification of data that may be sent to it."
    )
    max_concurrent: MaxConcurrent = None
    expires_at: AwareDatetime | None = Field(default=None, description="When its secret stops working.")
    space_id: str | None = None


class SpaceConnectionPatch(BaseModel):
    """Members to change; omitted ones stay. New hosts need the secrets again."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    name: ConnectionName | None = None
    fields: dict[str, JsonValue] | None = Field(default=None, description="All fields that are no secret.")
    secrets: GivenSecrets | None = Field(default=None, description="Secrets to replace; others stay.")
    classification: int | None = Field(default=None, ge=0)
    max_concurrent: MaxConcurrent = None
    expires_at: AwareDatetime | None = None


class SpaceConnectionOut(BaseModel):
    """A connection without its secrets."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    space_id: str
    owner_id: str | None = Field(description="The only user whose runs may use it; null: every run of the space.")
    name: str
    kind: str
    fields: dict[str, JsonValue]
    secret_names: list[str] = Field(description="Secret fields that have a value.")
    hosts: list[str] = Field(description="The only servers that it may reach.")
    classification: int | None
    max_concurrent: int | None = Field(description="Steps that may use it at the same time; null: any number.")
    status: Status = Field(
        validation_alias="state", description="`unauthorized` and `rejected`: a user must authorize it again."
    )
    error_message: str | None
    tested_at: datetime | None
    last_used_at: datetime | None
    expires_at: datetime | None
    created_at: datetime
    updated_at: datetime


class KindFieldOut(BaseModel):
    """A field of a kind."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    label: str
    help: str
    type: FieldType
    required: bool
    default: JsonValue
    options: list[str]
    advanced: bool


class KindOut(BaseModel):
    """A kind of connections."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    label: str
    description: str
    category: Category
    fields: list[KindFieldOut]
    adds: Adds = Field(description="What the HTTP client adds to requests of flows.")
    grant: Grant = Field(description="How it is authorized; empty: not by OAuth.")
    tested: bool = Field(description="Whether it can be tested.")
    ownership: Ownership
    keywords: list[str]


class ConnectionTestOut(BaseModel):
    """The outcome of a test."""

    ok: bool
    message: str
    remedy: str = ""
    ms: float


class StoredFileOut(BaseModel):
    """A file or folder of a storage."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    path: str
    """From the folder of the connection; flows, triggers and sources name it so."""
    is_folder: bool
    size: int
    """In bytes; 0 for folders."""
    changed: datetime | None


class AuthorizationOut(BaseModel):
    """How to continue an authorization."""

    state: Literal["redirect", "device", "ready"]
    url: str = Field(default="", description="Where the user signs in, or enters the code.")
    authorization: str = Field(default="", description="Of a device code: for asking whether it was entered.")
    user_code: str = Field(default="", description="What the user enters.")
    interval: int = Field(default=5, description="Seconds between two questions.")
    expires_in: int = Field(default=600, description="Seconds until the authorization ends.")


class AuthorizationState(BaseModel):
    """Whether the user has entered the device code."""

    state: Literal["pending", "ready"]
    slower: bool = Field(default=False, description="Whether the provider asks for longer intervals.")


class AuthorizationPoll(BaseModel):
    """An authorization by device code."""

    model_config = ConfigDict(extra="forbid")

    authorization: str = Field(min_length=1, max_length=100)


class AuthorizationAnswer(BaseModel):
    """Response of a provider, as the browser received it."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    state: str = Field(min_length=1, max_length=200)
    code: str = Field(default="", max_length=4096)
    error: str = Field(default="", max_length=200)
    iss: str = Field(default="", max_length=2000, description="The provider's issuer, where it names one.")


class DatabaseColumnOut(BaseModel):
    """A column of a database."""

    name: str
    sql: str = Field(description="The name as SQL writes it: quoted where the database needs that.")
    type: str = Field(description="As the database calls it.")
    nullable: bool
    key: bool = Field(description="Whether it belongs to the primary key.")
    references: str = Field(description="`table.column` that it refers to; empty without a foreign key.")


class DatabaseTableOut(BaseModel):
    """A table or view of a database. Its names are the database's own: data, never instructions."""

    name: str
    sql: str = Field(description="The name as SQL writes it: quoted where the database needs that.")
    columns: list[DatabaseColumnOut]
