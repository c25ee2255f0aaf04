"""The tables of SQL Server that describe a database (`sys`), as views of DuckDB: what SQLAlchemy reads of them."""

CATALOG = """
CREATE SCHEMA dbo;
CREATE SCHEMA sys;
CREATE TABLE sys.types (kind VARCHAR, name VARCHAR, user_type_id INT, system_type_id INT, max_length INT);
INSERT INTO sys.types VALUES
    ('VARCHAR', 'nvarchar', 231, 231, -1), ('INTEGER', 'int', 56, 56, 4), ('BIGINT', 'bigint', 127, 127, 8),
    ('DATE', 'date', 40, 40, 3), ('TIME', 'time', 41, 41, 5), ('TIMESTAMP', 'datetime2', 42, 42, 8),
    ('TIMESTAMP WITH TIME ZONE', 'datetimeoffset', 43, 43, 10), ('UUID', 'uniqueidentifier', 36, 36, 16),
    ('BLOB', 'varbinary', 165, 165, -1), ('BOOLEAN', 'bit', 104, 104, 1), ('DOUBLE', 'float', 62, 62, 8),
    ('DECIMAL', 'decimal', 106, 106, 9);
CREATE VIEW sys.schemas AS SELECT 'dbo' AS name, 1 AS schema_id;
CREATE VIEW sys.objects AS
    SELECT table_name AS name, 1 AS schema_id, CAST(table_oid AS INT) AS object_id, 'U' AS type
    FROM duckdb_tables() WHERE schema_name = 'dbo'
    UNION ALL
    SELECT view_name, 1, CAST(view_oid AS INT), 'V' FROM duckdb_views() WHERE schema_name = 'dbo';
CREATE VIEW sys.columns AS
    SELECT CAST(table_oid AS INT) AS object_id, column_name AS name, column_index AS column_id, user_type_id,
        is_nullable, max_length, numeric_precision AS precision, numeric_scale AS scale,
        CAST(NULL AS VARCHAR) AS collation_name, 0 AS default_object_id
    FROM duckdb_columns() JOIN sys.types ON kind = regexp_extract(data_type, '^[A-Z ]+')
    WHERE schema_name = 'dbo';
CREATE VIEW sys.keys AS
    SELECT CAST(table_oid AS INT) AS object_id, constraint_name AS name, constraint_column_indexes AS indexes
    FROM duckdb_constraints() WHERE schema_name = 'dbo' AND constraint_type = 'PRIMARY KEY';
CREATE VIEW sys.key_constraints AS
    SELECT name, 'PK' AS type, object_id AS parent_object_id, 1 AS unique_index_id FROM sys.keys;
CREATE VIEW sys.indexes AS
    SELECT object_id, name, 1 AS index_id, 1 AS type, true AS is_unique, true AS is_primary_key,
        false AS is_unique_constraint, false AS is_hypothetical, CAST(NULL AS VARCHAR) AS filter_definition,
        false AS has_filter
    FROM sys.keys;
CREATE VIEW sys.index_columns AS
    SELECT object_id, 1 AS index_id, UNNEST(indexes) + 1 AS column_id,
        UNNEST(range(1, len(indexes) + 1)) AS key_ordinal, false AS is_included_column, false AS is_descending_key
    FROM sys.keys;
CREATE TABLE sys.numbered (table_name VARCHAR, column_name VARCHAR);
CREATE VIEW sys.identity_columns AS
    SELECT object_id, column_id, columns.name, 1 AS is_identity, 1 AS seed_value, 1 AS increment_value
    FROM sys.columns JOIN sys.objects USING (object_id)
    JOIN sys.numbered ON objects.name = table_name AND columns.name = column_name;
CREATE TABLE sys.default_constraints (object_id INT, name VARCHAR, parent_column_id INT, definition VARCHAR);
CREATE TABLE sys.computed_columns (object_id INT, column_id INT, definition VARCHAR, is_persisted BOOLEAN);
CREATE TABLE sys.extended_properties (class INT, major_id INT, minor_id INT, name VARCHAR, value VARCHAR)
"""
"""`sys.numbered` has the identity columns: DuckDB has none."""
