import type { FlowNode, JsonValue } from "@/api/types";

export type Schema = { [member: string]: JsonValue };

export const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The JSON Schema that a contract holds; a bare schema is one too. */
export function contractSchema(contract: unknown): Schema | null {
  if (!isSchema(contract)) return null;
  if (contract.type === "json") return isSchema(contract.schema) ? contract.schema : null;
  return "properties" in contract || contract.type === "object" || contract.type === "array" ? contract : null;
}

/** What a node promises of its main output: its output contract, else the schema that it extracts by. */
export function promised(node: FlowNode): Schema | null {
  return contractSchema(node.policy?.output_contract) ?? extracted(node);
}

function extracted(node: FlowNode): Schema | null {
  const schema = node.type === "StructuredOutput" ? node.params?.schema : undefined;
  return isSchema(schema) ? schema : null;
}

/** The members of an object, or of the items of a list: those of its first item. */
export function membersOf(schema: Schema): { name: string; schema: Schema }[] {
  if (isSchema(schema.properties)) {
    return Object.entries(schema.properties).flatMap(([name, inner]) =>
      isSchema(inner) && !/[\s{}.]/.test(name) ? [{ name, schema: inner }] : [],
    );
  }
  return isSchema(schema.items) ? [{ name: "0", schema: schema.items }] : [];
}

/** The first member on a path that no value of this schema has; null when there may be one. */
export function missingMember(schema: Schema | null, path: string[]): string | null {
  let now: unknown = schema;
  for (const [index, segment] of path.entries()) {
    if (!isSchema(now)) return null;
    const properties = isSchema(now.properties) ? now.properties : {};
    const closed = now.type === "object" && now.additionalProperties === false;
    if (closed && !(segment in properties)) return path.slice(0, index + 1).join(".");
    now = properties[segment] ?? (/^\d+$/.test(segment) ? now.items : undefined);
  }
  return null;
}

/** The type of a schema in one word; empty where it is open. A type that may be null is the type. */
export function typeName(schema: Schema): string {
  const types = [schema.type].flat().filter((type) => typeof type === "string" && type !== "null");
  return types.length === 1 ? String(types[0]) : "";
}

/** The schema at a dotted path; null where there is none. */
export function schemaAt(schema: Schema, path: string): Schema | null {
  let now: unknown = schema;
  for (const segment of path === "" ? [] : path.split(".")) {
    now = isSchema(now) && isSchema(now.properties) ? now.properties[segment] : null;
  }
  return isSchema(now) ? now : null;
}
