"""Descriptions of one small API, in every format that is read."""

import json
from typing import Any

import yaml

ISSUES: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Tracker", "version": "1.2"},
    "servers": [{"url": "https://api.tracker.example/{version}", "variables": {"version": {"default": "v1"}}}],
    "components": {
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Tracker-Key"}},
        "parameters": {"project": {"name": "project", "in": "path", "required": True, "schema": {"type": "string"}}},
        "schemas": {
            "Person": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "boss": {"$ref": "#/components/schemas/Person"}},
            },
            "Issue": {
                "type": "object",
                "required": ["id", "title"],
                "properties": {
                    "id": {"type": "integer", "readOnly": True},
                    "title": {"type": "string", "maxLength": 20},
                    "state": {"type": "string", "enum": ["open", "closed"], "nullable": True},
                    "author": {"$ref": "#/components/schemas/Person"},
                },
            },
        },
    },
    "paths": {
        "/projects/{project}/issues": {
            "parameters": [{"$ref": "#/components/parameters/project"}],
            "get": {
                "operationId": "list_issues",
                "summary": "List issues of a project",
                "tags": ["issues"],
                "parameters": [
                    {"name": "state", "in": "query", "schema": {"type": "string", "enum": ["open", "closed"]}},
                    {
                        "name": "labels",
                        "in": "query",
                        "schema": {"type": "array", "items": {"type": "string"}},
                        "explode": False,
                    },
                    {"name": "cursor", "in": "query", "schema": {"type": "string"}},
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                    {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
                ],
                "responses": {
                    "200": {
                        "description": "Issues",
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "required": ["items"],
                                    "properties": {
                                        "items": {"type": "array", "items": {"$ref": "#/components/schemas/Issue"}},
                                        "next_cursor": {"type": "string", "nullable": True},
                                    },
                                }
                            }
                        },
                    }
                },
            },
            "post": {
                "operationId": "create_issue",
                "summary": "Create an issue",
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Issue"}}},
                },
                "responses": {
                    "201": {
                        "description": "The issue",
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Issue"}}},
                    }
                },
            },
        },
        "/files": {
            "post": {
                "operationId": "upload",
                "requestBody": {"required": True, "content": {"image/*": {"schema": {"type": "string"}}}},
                "responses": {},
            }
        },
    },
}
CURL = """curl -X POST https://api.tracker.example/v1/projects/12/issues?dry_run=1 \\
  -H 'Authorization: Bearer canary-of-curl' -H 'X-Trace: abc' \\
  --data '{"title": "It fails", "votes": 3}'
curl https://api.tracker.example/v1/projects -u ann:canary-of-curl
"""
POSTMAN = {
    "info": {"name": "Tracker", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
    "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "canary-of-postman"}]},
    "item": [
        {
            "name": "Issues",
            "item": [
                {
                    "name": "Create an issue",
                    "request": {
                        "method": "POST",
                        "header": [
                            {"key": "X-Api-Key", "value": "canary-of-postman"},
                            {"key": "X-Trace", "value": "abc"},
                        ],
                        "url": {"raw": "https://api.tracker.example/v1/projects/:project/issues?dry_run=1"},
                        "body": {"mode": "raw", "raw": '{"title": "It fails"}'},
                    },
                }
            ],
        }
    ],
}
HAR = {
    "log": {
        "entries": [
            {
                "request": {
                    "method": "GET",
                    "url": "https://api.tracker.example/v1/projects?state=open&access_token=canary-of-har",
                    "headers": [{"name": "Cookie", "value": "canary-of-har"}, {"name": "X-Trace", "value": "abc"}],
                },
                "response": {"content": {"mimeType": "application/json"}},
            },
            {
                "request": {"method": "GET", "url": "https://api.tracker.example/logo.png", "headers": []},
                "response": {"content": {"mimeType": "image/png"}},
            },
        ]
    }
}
SWAGGER: dict[str, Any] = {
    "swagger": "2.0",
    "info": {"title": "Tracker", "version": "1"},
    "host": "api.tracker.example",
    "basePath": "/v1",
    "schemes": ["https"],
    "securityDefinitions": {"key": {"type": "apiKey", "in": "query", "name": "key"}},
    "definitions": {"Issue": {"type": "object", "properties": {"title": {"type": "string"}}}},
    "paths": {
        "/issues": {
            "post": {
                "operationId": "create_issue",
                "parameters": [
                    {"name": "issue", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Issue"}},
                    {
                        "name": "tags",
                        "in": "query",
                        "type": "array",
                        "items": {"type": "string"},
                        "collectionFormat": "multi",
                    },
                ],
                "responses": {"200": {"description": "ok", "schema": {"$ref": "#/definitions/Issue"}}},
            }
        }
    },
}


def as_json(document: object) -> bytes:
    """A document as JSON."""
    return json.dumps(document).encode()


def as_yaml(document: object) -> bytes:
    """A document as YAML."""
    return yaml.safe_dump(document).encode()
