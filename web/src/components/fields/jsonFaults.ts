import type { JsonValue } from "@/api/types";
import { lineOfFault } from "@/components/contract/jsonLine";
import { isSchema, type Schema } from "@/lib/wiring";

export type JsonRead = { ok: true; value: JsonValue } | { ok: false; line: number };

/** A JSON text read, or the line on which it stops being JSON. */
export function readJson(text: string): JsonRead {
  const line = lineOfFault(text);
  return line === null ? { ok: true, value: JSON.parse(text) as JsonValue } : { ok: false, line };
}

export type SchemaFault =
  | { kind: "type"; path: string; wanted: string[] }
  | { kind: "missing"; path: string }
  | { kind: "choice"; path: string; choices: string[] };

const MOST = 5;

/** How a value breaks a schema of the subset that contracts use; at most five. */
export function schemaFaults(value: JsonValue, schema: Schema, path = ""): SchemaFault[] {
  const types =
    schema.type === undefined ? [] : Array.isArray(schema.type) ? schema.type.map(String) : [String(schema.type)];
  if (types.length > 0 && !types.some((type) => isOf(value, type))) return [{ kind: "type", path, wanted: types }];
  const choices = Array.isArray(schema.enum) ? schema.enum.map((one) => JSON.stringify(one)) : null;
  if (choices && !choices.includes(JSON.stringify(value))) return [{ kind: "choice", path, choices }];
  if (Array.isArray(value)) {
    const { items } = schema;
    return isSchema(items) ? value.flatMap((one, at) => schemaFaults(one, items, `${path}[${at}]`)).slice(0, MOST) : [];
  }
  return isSchema(value) ? memberFaults(value, schema, path).slice(0, MOST) : [];
}

function memberFaults(value: Schema, schema: Schema, path: string): SchemaFault[] {
  const at = (name: string) => (path ? `${path}.${name}` : name);
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const missing = required.filter((name) => !(name in value));
  const properties = isSchema(schema.properties) ? schema.properties : {};
  return [
    ...missing.map((name): SchemaFault => ({ kind: "missing", path: at(name) })),
    ...Object.entries(properties).flatMap(([name, inner]) => {
      const member = value[name];
      return isSchema(inner) && member !== undefined ? schemaFaults(member, inner, at(name)) : [];
    }),
  ];
}

function isOf(value: JsonValue, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isSchema(value);
  if (type === "integer") return typeof value === "number" && Number.isInteger(value);
  return typeof value === type;
}
