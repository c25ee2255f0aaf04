"""The tables of SQL Server that describe a database (`sys`), as views of DuckDB: what SQLAlchemy reads of them."""

_TYPES = {
    "VARCHAR": ("nvarchar", 231, -1),
    "INTEGER": ("int", 56, 4),
    "BIGINT": ("bigint", 127, 8),
    "DATE": ("date", 40, 3),
    "TIME": ("time", 41, 5),
    "TIMESTAMP": ("datetime2", 42, 8),
    "TIMESTAMP WITH TIME ZONE": ("datetimeoffset", 43, 10),
    "UUID": ("uniqueidentifier", 36, 16),
    "BLOB": ("varbinary", 165, -1),
    "BOOLEAN": ("bit", 104, 1),
    "DOUBLE": ("float", 62, 8),
    "DECIMAL": ("decimal", 106, 9),
}
_KIND = "CASE " + " ".join(f"WHEN data_type LIKE '{name}%' THEN {row[1]}" for name, row in sorted(_TYPES.items(), key=lambda pair: -len(pair[0]))) + " END"
_LENGTH = "CASE " + " ".join(f"WHEN data_type LIKE '{name}%' THEN {row[2]}" for name, row in sorted(_TYPES.items(), key=lambda pair: -len(pair[0]))) + " END"
_EMPTY = {
    "default_constraints": "object_id INT, name VARCHAR, parent_column_id INT, definition VARCHAR",
    "computed_columns": "object_id INT, column_id INT, definition VARCHAR, is_persisted BOOLEAN, name VARCHAR, is_computed BOOLEAN",
    "extended_properties": "class INT, major_id INT, minor_id INT, name VARCHAR, value VARCHAR",
    "index_options": "a INT",
    "partitions": "object_id INT, index_id INT, partition_number INT",
}
CATALOG = (
    "CREATE SCHEMA dbo",
    "CREATE SCHEMA sys",
    "CREATE VIEW sys.schemas AS SELECT 'dbo' AS name, 1 AS schema_id",
    "CREATE VIEW sys.objects AS "
    "SELECT table_name AS name, 1 AS schema_id, CAST(table_oid AS INT) AS object_id, 'U' AS type "
    "FROM duckdb_tables() WHERE schema_name = 'dbo' UNION ALL "
    "SELECT view_name, 1, CAST(view_oid AS INT), 'V' FROM duckdb_views() WHERE schema_name = 'dbo'",
    "CREATE VIEW sys.all_objects AS SELECT * FROM sys.objects",
    f"CREATE VIEW sys.columns AS SELECT CAST(table_oid AS INT) AS object_id, column_name AS name, "
    f"column_index AS column_id, {_KIND} AS user_type_id, is_nullable, {_LENGTH} AS max_length, "
    "numeric_precision AS precision, numeric_scale AS scale, CAST(NULL AS VARCHAR) AS collation_name, 0 AS default_object_id "
    "FROM duckdb_columns() WHERE schema_name = 'dbo'",
    "CREATE TABLE sys.types (name VARCHAR, user_type_id INT, system_type_id INT)",
    *(f"INSERT INTO sys.types VALUES ('{name}', {number}, {number})" for name, number, _ in _TYPES.values()),
    "CREATE VIEW sys.key_constraints AS SELECT constraint_name AS name, 'PK' AS type, "
    "CAST(table_oid AS INT) AS parent_object_id, 1 AS unique_index_id "
    "FROM duckdb_constraints() WHERE schema_name = 'dbo' AND constraint_type = 'PRIMARY KEY'",
    "CREATE VIEW sys.indexes AS SELECT CAST(table_oid AS INT) AS object_id, constraint_name AS name, 1 AS index_id, "
    "1 AS type, true AS is_unique, true AS is_primary_key, false AS is_unique_constraint, false AS is_hypothetical, "
    "CAST(NULL AS VARCHAR) AS filter_definition, false AS has_filter "
    "FROM duckdb_constraints() WHERE schema_name = 'dbo' AND constraint_type = 'PRIMARY KEY'",
    "CREATE VIEW sys.index_columns AS SELECT CAST(table_oid AS INT) AS object_id, 1 AS index_id, "
    "UNNEST(constraint_column_indexes) + 1 AS column_id, UNNEST(range(1, len(constraint_column_indexes) + 1)) AS key_ordinal, "
    "false AS is_included_column, false AS is_descending_key FROM duckdb_constraints() "
    "WHERE schema_name = 'dbo' AND constraint_type = 'PRIMARY KEY'",
    "CREATE TABLE sys.numbered (table_name VARCHAR, column_name VARCHAR)",
    "CREATE VIEW sys.identity_columns AS SELECT object_id, column_id, columns.name, 1 AS is_identity, 1 AS seed_value, "
    "1 AS increment_value FROM sys.columns JOIN sys.objects USING (object_id) JOIN sys.numbered "
    "ON objects.name = table_name AND columns.name = column_name",
    *(f"CREATE TABLE sys.{name} ({columns})" for name, columns in _EMPTY.items()),
)
"""`sys.numbered` has the identity columns: DuckDB has none."""
