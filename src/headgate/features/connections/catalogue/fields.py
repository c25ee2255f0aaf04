"""Fields that several kinds of connections have."""

from headgate.features.connections.kinds import KindField

URL = KindField(
    "url",
    "Address",
    "Base URL of the API. Requests of flows with a path only are completed with it.",
    "url",
    required=True,
)
HOSTS = KindField(
    "hosts",
    "More hosts",
    "Other servers that the credential may be sent to, such as https://files.example.org or https://*.example.org.",
    "hosts",
    advanced=True,
)
TEST_PATH = KindField("test_path", "Test path", "Path that the test requests, such as /me.", advanced=True)
USER = KindField("user", "User", required=True)
PASSWORD = KindField("password", "Password", type="secret", required=True)
HOST = KindField("host", "Host", "Name or address of the server.", required=True)
TLS = KindField(
    "tls",
    "TLS",
    "verify: encrypted, with a certificate that is checked; require: encrypted; off: not encrypted.",
    "select",
    default="verify",
    options=("verify", "require", "off"),
)
API = (HOSTS, TEST_PATH)
