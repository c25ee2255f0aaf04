"""APIs with a credential that does not change, or none."""

from headgate.features.connections.catalogue.fields import API, PASSWORD, URL, USER
from headgate.features.connections.kinds import Kind, KindField

KINDS = (
    Kind(
        "api_key_header",
        "API key in a header",
        "Sends a key in a header that you name, such as X-API-Key.",
        "api",
        (
            URL,
            KindField("header", "Header", "Name of the header.", required=True, default="X-API-Key"),
            KindField("prefix", "Prefix", "Word before the key, such as Token.", advanced=True),
            KindField("key", "Key", type="secret", required=True),
            *API,
        ),
        adds="header",
        probe="http",
        keywords=("rest", "token"),
    ),
    Kind(
        "api_key_query",
        "API key in the URL",
        "Sends a key as a query parameter. The key appears in no log and no result of Headgate.",
        "api",
        (
            URL,
            KindField("parameter", "Parameter", "Name of the query parameter.", required=True, default="api_key"),
            KindField("key", "Key", type="secret", required=True),
            *API,
        ),
        adds="query",
        probe="http",
        keywords=("rest", "token"),
    ),
    Kind(
        "basic",
        "Basic authentication",
        "Sends a user name and a password with each request.",
        "api",
        (URL, USER, PASSWORD, *API),
        adds="basic",
        probe="http",
        keywords=("rest", "password", "jira", "wordpress"),
    ),
    Kind(
        "bearer",
        "Bearer token",
        "Sends a token in the Authorization header.",
        "api",
        (URL, KindField("token", "Token", type="secret", required=True), *API),
        adds="bearer",
        probe="http",
        keywords=("rest", "personal access token", "github", "gitlab", "slack", "notion"),
    ),
    Kind(
        "public_api",
        "API without authentication",
        "Sends no credential. Requests of flows reach its hosts only.",
        "api",
        (URL, *API),
        adds="hosts",
        probe="http",
        keywords=("rest", "open", "public", "openapi"),
    ),
)
