"""MCP servers, model providers, notifications and webhooks."""

from headgate.features.connections.kinds import Kind, KindField

KINDS = (
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
