"""The kinds of connections. A new kind is one declaration here, with its texts in the page."""

from types import MappingProxyType

from headgate.features.connections.kinds import Kind, KindField

_URL = KindField(
    "url",
    "Address",
    "Base URL of the API. Requests of flows with a path only are completed with it.",
    "url",
    required=True,
)
_HOSTS = KindField(
    "hosts",
    "More hosts",
    "Other servers that the credential may be sent to, such as https://files.example.org or https://*.example.org.",
    "hosts",
    advanced=True,
)
_TEST_PATH = KindField("test_path", "Test path", "Path that the test requests, such as /me.", advanced=True)
_USER = KindField("user", "User", required=True)
_PASSWORD = KindField("password", "Password", type="secret", required=True)
_HOST = KindField("host", "Host", "Name or address of the server.", required=True)
_SCOPES = KindField("scopes", "Scopes", "Separated by spaces, as the provider documents them.")
_TOKEN_URL = KindField("token_url", "Token URL", "Where tokens are issued.", "url", required=True)
_REVOKE_URL = KindField(
    "revocation_url",
    "Revocation URL",
    "Where the token is revoked when the connection is deleted.",
    "url",
    advanced=True,
)
_CLIENT_ID = KindField("client_id", "Client ID", "As the provider issued it.", required=True)
_CLIENT_SECRET = KindField("client_secret", "Client secret", "Leave empty for a public client.", "secret")
_CLIENT_AUTH = KindField(
    "client_authentication",
    "Client authentication",
    "How the client ID and secret are sent to the token URL.",
    "select",
    default="client_secret_basic",
    options=("client_secret_basic", "client_secret_post"),
    advanced=True,
)
_AUDIENCE = KindField(
    "audience", "Audience", "Sent with the token request, where the provider asks for it.", advanced=True
)
_RESOURCE = KindField(
    "resource", "Resource", "URL that the tokens are for, where the provider asks for it (RFC 8707).", advanced=True
)
_ISSUER = KindField(
    "issuer", "Issuer", "The provider's own name; an answer of another issuer is refused (RFC 9207).", advanced=True
)
_TLS = KindField(
    "tls",
    "TLS",
    "verify: encrypted, with a certificate that is checked; require: encrypted; off: not encrypted.",
    "select",
    default="verify",
    options=("verify", "require", "off"),
)
_API = (_HOSTS, _TEST_PATH)
_FOLDER = KindField("folder", "Folder", "Paths of flows begin in it; leave empty for the complete storage.")
_OAUTH_ENDPOINTS = ("authorization_url", "device_url", "token_url", "revocation_url")


def _mail(id_: str, label: str, description: str, port: int, security: str, *more: KindField) -> Kind:
    return Kind(
        id_,
        label,
        description,
        "mail",
        (
            _HOST,
            KindField("port", "Port", type="number", default=port),
            KindField(
                "security",
                "Security",
                "tls: encrypted from the start; starttls: encrypted before the password is sent.",
                "select",
                default=security,
                options=("tls", "starttls", "none"),
            ),
            KindField("user", "User"),
            KindField("password", "Password", type="secret"),
            *more,
        ),
        probe="smtp" if id_ == "smtp" else "imap",
        keywords=("mail", "email", "e-mail", "gmail", "outlook", "exchange"),
    )


_KINDS = (
    Kind(
        "api_key_header",
        "API key in a header",
        "Sends a key in a header that you name, such as X-API-Key.",
        "api",
        (
            _URL,
            KindField("header", "Header", "Name of the header.", required=True, default="X-API-Key"),
            KindField("prefix", "Prefix", "Word before the key, such as Token.", advanced=True),
            KindField("key", "Key", type="secret", required=True),
            *_API,
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
            _URL,
            KindField("parameter", "Parameter", "Name of the query parameter.", required=True, default="api_key"),
            KindField("key", "Key", type="secret", required=True),
            *_API,
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
        (_URL, _USER, _PASSWORD, *_API),
        adds="basic",
        probe="http",
        keywords=("rest", "password", "jira", "wordpress"),
    ),
    Kind(
        "bearer",
        "Bearer token",
        "Sends a token in the Authorization header.",
        "api",
        (_URL, KindField("token", "Token", type="secret", required=True), *_API),
        adds="bearer",
        probe="http",
        keywords=("rest", "personal access token", "github", "gitlab", "slack", "notion"),
    ),
    Kind(
        "public_api",
        "API without authentication",
        "Sends no credential. Requests of flows reach its hosts only.",
        "api",
        (_URL, *_API),
        adds="hosts",
        probe="http",
        keywords=("rest", "open", "public", "openapi"),
    ),
    Kind(
        "oauth2_code",
        "OAuth 2: sign in",
        "You sign in at the provider in the browser. Access tokens are refreshed automatically.",
        "oauth",
        (
            _URL,
            KindField("authorization_url", "Authorization URL", "Where users sign in.", "url", required=True),
            _TOKEN_URL,
            _CLIENT_ID,
            _CLIENT_SECRET,
            _SCOPES,
            _AUDIENCE,
            _RESOURCE,
            _ISSUER,
            _CLIENT_AUTH,
            KindField(
                "parameters",
                "More parameters",
                "Added to the authorization URL, such as access_type=offline&prompt=consent.",
                advanced=True,
            ),
            _REVOKE_URL,
            *_API,
        ),
        adds="oauth",
        grant="authorization_code",
        probe="http",
        keywords=("google", "microsoft", "salesforce", "hubspot", "authorization code", "pkce", "sign in", "login"),
        endpoints=_OAUTH_ENDPOINTS,
    ),
    Kind(
        "oauth2_device",
        "OAuth 2: device code",
        "You enter a code at the provider, on any device. For servers that no browser can reach.",
        "oauth",
        (
            _URL,
            KindField("device_url", "Device authorization URL", "Where the code is issued.", "url", required=True),
            _TOKEN_URL,
            _CLIENT_ID,
            _CLIENT_SECRET,
            _SCOPES,
            _AUDIENCE,
            _CLIENT_AUTH,
            _REVOKE_URL,
            *_API,
        ),
        adds="oauth",
        grant="device_code",
        probe="http",
        keywords=("google", "microsoft", "github"),
        endpoints=_OAUTH_ENDPOINTS,
    ),
    Kind(
        "oauth2_client",
        "OAuth 2: client credentials",
        "Headgate signs in as an application, without a user.",
        "oauth",
        (
            _URL,
            _TOKEN_URL,
            _CLIENT_ID,
            KindField("client_secret", "Client secret", type="secret", required=True),
            _SCOPES,
            _AUDIENCE,
            _RESOURCE,
            _CLIENT_AUTH,
            _REVOKE_URL,
            *_API,
        ),
        adds="oauth",
        grant="client_credentials",
        probe="http",
        ownership="shared",
        keywords=("machine to machine", "service account", "application"),
        endpoints=_OAUTH_ENDPOINTS,
    ),
    _mail(
        "smtp",
        "SMTP (send mail)",
        "A mail server that sends messages.",
        587,
        "starttls",
        KindField("sender", "Sender", "Address that messages come from; the user when empty."),
    ),
    _mail("imap", "IMAP (read mail)", "A mailbox whose messages flows read.", 993, "tls"),
    Kind(
        "sql",
        "SQL database",
        "PostgreSQL, MySQL or MariaDB.",
        "data",
        (
            KindField(
                "dialect",
                "Database system",
                type="select",
                required=True,
                default="postgresql",
                options=("postgresql", "mysql", "mariadb"),
            ),
            _HOST,
            KindField("port", "Port", "5432 for PostgreSQL, 3306 for MySQL.", "number", default=5432),
            KindField("database", "Database", required=True),
            KindField("user", "User"),
            KindField("password", "Password", type="secret"),
            _TLS,
        ),
        probe="sql",
        keywords=("postgres", "mysql", "mariadb", "database"),
    ),
    Kind(
        "sql_file",
        "Database file",
        "A SQLite or DuckDB file in a folder that the operator of the server has opened for connections.",
        "data",
        (
            KindField(
                "dialect",
                "Database system",
                type="select",
                required=True,
                default="sqlite",
                options=("sqlite", "duckdb"),
            ),
            KindField("folder", "Folder name", "As the operator named the folder.", required=True),
            KindField("file", "File", "Its path in the folder, such as data/shop.db.", required=True),
        ),
        probe="sql",
        ownership="shared",
        admins_only=True,
        keywords=("sqlite", "duckdb", "database", "local"),
    ),
    Kind(
        "redis",
        "Redis",
        "A Redis or Valkey server, whose streams start flows.",
        "data",
        (
            _HOST,
            KindField("port", "Port", type="number", default=6379),
            KindField("database", "Database number", type="number", default=0, least=0),
            KindField("user", "User"),
            KindField("password", "Password", type="secret"),
            _TLS,
        ),
        probe="redis",
        keywords=("valkey", "stream", "queue", "message broker"),
    ),
    Kind(
        "amqp",
        "AMQP",
        "RabbitMQ, or another server of AMQP 0-9-1, whose queues start flows.",
        "data",
        (
            _HOST,
            KindField("port", "Port", type="number", default=5671),
            KindField("virtual_host", "Virtual host", default="/"),
            _USER,
            KindField("password", "Password", type="secret"),
            _TLS,
        ),
        probe="amqp",
        keywords=("rabbitmq", "queue", "message broker"),
    ),
    Kind(
        "s3",
        "S3 and compatible",
        "Object storage: Amazon S3, MinIO, Ceph, Cloudflare R2.",
        "files",
        (
            KindField("url", "Endpoint", "URL of the store.", "url", required=True),
            KindField("region", "Region", default="us-east-1"),
            KindField("bucket", "Bucket", required=True),
            KindField("access_key", "Access key", required=True),
            KindField("secret_key", "Secret key", type="secret", required=True),
            _FOLDER,
        ),
        probe="storage",
        adds="hosts",
        keywords=("bucket", "object storage", "minio", "aws", "r2"),
    ),
    Kind(
        "gcs",
        "Google Cloud Storage",
        "Objects of a bucket, with the key of a service account.",
        "files",
        (
            KindField(
                "url", "Endpoint", "URL of the store.", "url", required=True, default="https://storage.googleapis.com"
            ),
            KindField("bucket", "Bucket", required=True),
            KindField("key", "Service account key", "The complete JSON file.", "multiline_secret", required=True),
            _FOLDER,
        ),
        probe="storage",
        adds="hosts",
        keywords=("bucket", "object storage", "google", "gcp"),
    ),
    Kind(
        "azure_blob",
        "Azure Blob Storage",
        "Blobs of a container, with the access key of a storage account.",
        "files",
        (
            KindField("url", "Endpoint", "Such as https://ACCOUNT.blob.core.windows.net.", "url", required=True),
            KindField("account", "Storage account", required=True),
            KindField("container", "Container", required=True),
            KindField("access_key", "Access key", type="secret", required=True),
            _FOLDER,
        ),
        probe="storage",
        adds="hosts",
        keywords=("container", "object storage", "microsoft", "adls"),
    ),
    Kind(
        "sftp",
        "SFTP",
        "Files over SSH.",
        "files",
        (
            _HOST,
            KindField("port", "Port", type="number", default=22),
            _USER,
            KindField("password", "Password", type="secret"),
            KindField("private_key", "Private key", "In PEM or OpenSSH format.", "multiline_secret"),
            KindField("host_key", "Host key", "Expected public key of the server: ssh-ed25519 AAAA...", required=True),
            _FOLDER,
        ),
        probe="storage",
        keywords=("ssh", "ftp"),
    ),
    Kind(
        "webdav",
        "WebDAV",
        "Files over HTTP, such as Nextcloud.",
        "files",
        (_URL, _USER, _PASSWORD, _HOSTS),
        adds="basic",
        probe="storage",
        keywords=("nextcloud", "owncloud"),
    ),
    Kind(
        "local_folder",
        "Folder of the server",
        "A folder that the operator of the server has opened for connections.",
        "files",
        (KindField("folder", "Name", "As the operator named the folder.", required=True),),
        probe="storage",
        ownership="shared",
        admins_only=True,
        keywords=("disk", "directory", "mount", "nfs", "smb", "share", "local"),
    ),
    Kind(
        "git",
        "Git server",
        "Repositories of GitHub, GitLab, Gitea, Forgejo or another server, over HTTPS.",
        "files",
        (
            KindField(
                "url",
                "Address",
                "Of the server, such as https://github.com, or of one repository.",
                "url",
                required=True,
            ),
            KindField(
                "service",
                "Service",
                "gitea: also Forgejo and Codeberg. other: changes cannot be opened.",
                "select",
                required=True,
                default="github",
                options=("github", "gitlab", "gitea", "other"),
            ),
            KindField(
                "api_url",
                "API address",
                "For opening changes: https://api.github.com, https://gitlab.example.org/api/v4, "
                "https://gitea.example.org/api/v1.",
                "url",
            ),
            KindField("user", "User", "Leave empty for GitHub, GitLab and Gitea.", advanced=True),
            KindField("token", "Token", "Leave empty for public repositories that are only read.", "secret"),
        ),
        adds="bearer",
        probe="git",
        keywords=("github", "gitlab", "gitea", "forgejo", "codeberg", "bitbucket", "repository", "code", "source"),
    ),
    Kind(
        "mcp_server",
        "MCP server",
        "A server with tools for agents.",
        "ai",
        (
            KindField("url", "URL", "Of the server's MCP endpoint.", "url", required=True),
            KindField("token", "Token", "Sent as a bearer token.", "secret"),
        ),
        adds="bearer",
        probe="mcp",
        keywords=("tools", "model context protocol"),
    ),
    Kind(
        "model_provider",
        "Model provider",
        "A server with an API that is compatible with OpenAI's.",
        "ai",
        (
            KindField("url", "URL", "Up to /v1.", "url", required=True),
            KindField("key", "Key", type="secret"),
        ),
        adds="bearer",
        probe="models",
        ownership="shared",
        keywords=("openai", "llm", "language model", "vllm"),
    ),
    Kind(
        "notification",
        "Notification address",
        "An address for notifications, which contains its own key: Slack, Teams, Discord, Telegram, Matrix, ntfy.",
        "other",
        (
            KindField(
                "address",
                "Address",
                "As the service documents it, such as slack://token/channel.",
                "secret",
                required=True,
            ),
            KindField(
                "hosts", "Hosts", "Servers of the service, such as https://hooks.slack.com.", "hosts", required=True
            ),
        ),
        adds="hosts",
        keywords=("slack", "teams", "discord", "telegram", "matrix", "ntfy", "pushover", "chat", "message"),
    ),
    Kind(
        "webhook_secret",
        "Webhook secret",
        "A shared secret that signs or verifies webhooks. It is sent to no server.",
        "other",
        (
            KindField("secret", "Secret", type="secret", required=True),
            KindField("header", "Header", "Header with the signature.", default="X-Signature-256"),
            KindField(
                "algorithm",
                "Algorithm",
                type="select",
                default="hmac-sha256",
                options=("hmac-sha256", "hmac-sha512", "hmac-sha1"),
            ),
        ),
        keywords=("signature", "hmac", "hook"),
    ),
)
KINDS = MappingProxyType({kind.id: kind for kind in _KINDS})
"""Every kind by id, in the order of the gallery."""
