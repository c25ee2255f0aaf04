from typing import ClassVar

from pydantic import SecretStr

from headgate.sdk import Component, Data, field, output


class Weather(Component):
    """Gets the weather of a city. Use it to answer what the weather is like."""

    hosts: ClassVar[tuple[str, ...]] = ("api.example.org",)

    city: str = field(help="A city, such as Stockholm.", main=True, tool_mode=True)
    api_key: SecretStr = field(help="The key of the weather service.")

    @output(help="The answer of the service.")
    async def get_weather(self) -> Data:
        """The weather."""
        address = f"https://api.example.org/weather/{self.city}?key={self.api_key.get_secret_value()}"
        answer = await self.ctx.http.request("GET", address)
        return {"weather": answer.text}
