"""The field that names a connection, and the opened connection in a component."""

import pytest

from headgate.foundation.errors import Forbidden, NotFound
from headgate.graph.secret_reference import typed_params
from headgate.graph.template import FieldKind
from headgate.sdk import Component, ComponentError, ConnectionReference, Data, Text, field, output
from headgate.sdk.connections import ConnectionMismatch
from headgate.sdk.testing import StepHarness


class Mailer(Component):
    """Sends nothing."""

    server: ConnectionReference = field(label="Server", help="A mail server.", connection_kinds=("smtp",))

    @output()
    async def where(self) -> Data:
        connection = await self.ctx.connection(self.server)
        address = await connection.address(connection.text("host"), connection.number("port"))
        return [address, connection.secret("password")]

    @output()
    async def elsewhere(self) -> Text:
        connection = await self.ctx.connection(self.server)
        return await connection.address("other.example.org", 25)


class TestField:
    def test_is_a_kind_of_field_without_a_port(self) -> None:
        (template,) = Mailer.template().fields
        assert template.kind is FieldKind.CONNECTION
        assert (template.types, template.interpolate, template.tool_mode) == ((), False, False)
        assert template.connection_kinds == ("smtp",)

    def test_takes_only_what_the_saved_flow_names(self) -> None:
        """Text that arrives while a flow runs selects no connection."""
        with pytest.raises(ComponentError, match="named in the saved flow"):
            Mailer.create({"server": "mail"})
        assert Mailer.create(typed_params({"server": "mail"}, Mailer.template())).server.name == "mail"

    @pytest.mark.parametrize("name", ["{{in.text}}", "Mail", "", "a b"])
    def test_takes_names_only(self, name: str) -> None:
        typed = typed_params({"server": name}, Mailer.template())
        assert not isinstance(typed["server"], ConnectionReference)


class TestConnection:
    async def test_gives_fields_secrets_and_checked_addresses(self) -> None:
        harness = StepHarness()
        harness.connect("mail", "smtp", {"host": "mail.example.org", "port": 25}, secrets={"password": "x"})
        outputs = await harness.run(Mailer, {"server": "mail"}, outputs=["where"])
        assert outputs == {"where": ["127.0.0.1", "x"]}

    async def test_refuses_other_servers(self) -> None:
        harness = StepHarness()
        harness.connect("mail", "smtp", {"host": "mail.example.org", "port": 25})
        with pytest.raises(Forbidden, match=r"is not used for other\.example\.org:25"):
            await harness.run(Mailer, {"server": "mail"}, outputs=["elsewhere"])

    async def test_of_another_kind_is_refused(self) -> None:
        harness = StepHarness()
        harness.connect("mail", "imap", {"host": "mail.example.org", "port": 993})
        with pytest.raises(ConnectionMismatch, match="is of the kind imap"):
            await harness.run(Mailer, {"server": "mail"}, outputs=["where"])

    async def test_that_is_missing_is_named(self) -> None:
        with pytest.raises(NotFound, match="There is no connection 'mail'"):
            await StepHarness().run(Mailer, {"server": "mail"}, outputs=["where"])
