"""A key source of given values."""

from pydantic import SecretStr

from headgate.features.secrets.errors import VariableKept
from headgate.features.secrets.service import origin_of


class GivenKeys:
    """Serves what it was given and remembers what was asked for."""

    def __init__(self, stored_for: dict[str, str] | None = None, **values: str) -> None:
        """`stored_for`: variable to the origin it was stored for; all others are the server's own."""
        self._stored_for = stored_for or {}
        self._values = values
        self.asked: list[str] = []

    async def key(self, name: str) -> SecretStr | None:
        self.asked.append(name)
        value = self._values.get(name)
        return SecretStr(value) if value is not None else None

    async def key_for(self, name: str, url: str, *, bound: bool = True) -> SecretStr | None:
        found = await self.key(name)
        if found is not None and (bound or name in self._stored_for) and self._stored_for.get(name) != origin_of(url):
            raise VariableKept(name, origin_of(url))
        return found
