"""Mail, database and message servers."""

from headgate.features.connections.catalogue.fields import HOST, TLS, USER
from headgate.features.connections.kinds import Kind, KindField


def _mail(id_: str, label: str, description: str, port: int, security: str, *more: KindField) -> Kind:
    return Kind(
        id_,
        label,
        description,
        "mail",
        (
            HOST,
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


KINDS = (
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
        "PostgreSQL, MySQL, MariaDB or SQL Server.",
        "data",
        (
            KindField(
                "dialect",
                "Database system",
                type="select",
                required=True,
                default="postgresql",
                options=("postgresql", "mysql", "mariadb", "sqlserver"),
            ),
            HOST,
            KindField(
                "port", "Port", "5432 for PostgreSQL, 3306 for MySQL, 1433 for SQL Server.", "number", default=5432
            ),
            KindField("database", "Database", required=True),
            KindField("user", "User"),
            KindField("password", "Password", type="secret"),
            TLS,
        ),
        probe="sql",
        keywords=("postgres", "mysql", "mariadb", "mssql", "sql server", "azure sql", "database"),
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
            HOST,
            KindField("port", "Port", type="number", default=6379),
            KindField("database", "Database number", type="number", default=0, least=0),
            KindField("user", "User"),
            KindField("password", "Password", type="secret"),
            TLS,
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
            HOST,
            KindField("port", "Port", type="number", default=5671),
            KindField("virtual_host", "Virtual host", default="/"),
            USER,
            KindField("password", "Password", type="secret"),
            TLS,
        ),
        probe="amqp",
        keywords=("rabbitmq", "queue", "message broker"),
    ),
    Kind(
        "kafka",
        "Kafka",
        "Apache Kafka, or another server of its protocol, whose topics start flows.",
        "data",
        (
            HOST,
            KindField("port", "Port", type="number", default=9092),
            KindField(
                "brokers",
                "More brokers",
                "The other servers of the cluster with their ports, such as kafka-2.example.org:9092 or "
                "*.kafka.example.org:9092. Those that are not listed are not connected to.",
            ),
            KindField("user", "User"),
            KindField("password", "Password", type="secret"),
            KindField(
                "mechanism",
                "Mechanism",
                "How the user signs in (SASL).",
                "select",
                default="PLAIN",
                options=("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
            ),
            TLS,
        ),
        probe="kafka",
        keywords=("redpanda", "confluent", "topic", "queue", "message broker"),
    ),
)
