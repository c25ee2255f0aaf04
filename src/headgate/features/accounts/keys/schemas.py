"""API schemas of API keys."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from headgate.features.accounts.keys.networks import MOST_NETWORKS, read_network
from headgate.features.accounts.keys.secret import PREFIX_LENGTH
from headgate.foundation.names import Name

KeyName = Annotated[Name, Field(max_length=100)]
NetworkText = Annotated[str, StringConstraints(min_length=2, max_length=50), AfterValidator(read_network)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=36, pattern=r"^[0-9a-f-]+$")]


class KeyIn(BaseModel):
    """A key to create."""

    model_config = ConfigDict(extra="forbid")

    name: KeyName = Field(description="Purpose of the key, to identify it later.")
    scopes: list[Annotated[str, StringConstraints(min_length=1, max_length=64)]] | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description=(
            "Permissions such as `runs.start`, or roles such as `runner`, which grant what the "
            "role allows at the time of the request. None: all your permissions."
        ),
    )
    space_ids: list[Id] | None = Field(
        default=None, min_length=1, max_length=100, description="Spaces it is restricted to. None: all your spaces."
    )
    networks: list[NetworkText] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_NETWORKS,
        description="Networks it may be used from, such as `192.0.2.0/24`. None: all networks.",
    )
    expires_at: AwareDatetime | None = Field(default=None, description="When it expires. None: never.")


class KeyOwner(BaseModel):
    """The user of a key."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    email: str | None


class KeyOut(BaseModel):
    """A key, without its secret."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    prefix: str = Field(description=f"The first {PREFIX_LENGTH} characters, to identify it.")
    user: KeyOwner
    scopes: list[str] | None
    space_ids: list[str] | None
    networks: list[str] | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="Rounded to the minute.")
    last_used_address: str | None


class KeyMade(KeyOut):
    """A new key with its secret, which is never shown again."""

    key: str = Field(description="The complete key. Only its hash is stored.")
