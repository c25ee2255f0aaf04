import type { JsonValue } from "@/api/types";
import { isSchema, type Schema } from "@/lib/wiring";

export const MEMBER_TYPES = ["string", "number", "integer", "boolean", "object", "any"] as const;
export type MemberType = (typeof MEMBER_TYPES)[number];

/** One field of a contract, as people see it. */
export interface Member {
  /** Of this editing only; schemas have no ids. */
  id: string;
  name: string;
  type: MemberType;
  /** Whether it is a list of such values. */
  list: boolean;
  required: boolean;
  description: string;
  /** The only values it may have; none: any. */
  choices: string[];
  /** Fields of an object, or of each object in a list. */
  members: Member[];
}

/** A schema as a tree: what the whole value is, without a name. */
export type Root = Omit<Member, "name" | "required">;

let last = 0;
const freshId = () => {
  last += 1;
  return `m${last}`;
};

export const newMember = (name: string): Member => ({
  id: freshId(),
  name,
  type: "string",
  list: false,
  required: true,
  description: "",
  choices: [],
  members: [],
});

const KNOWN = new Set([
  "type",
  "required",
  "properties",
  "items",
  "enum",
  "description",
  "title",
  "additionalProperties",
]);

/** The tree of a schema; null when it says something that the tree cannot show, and only JSON can be edited. */
export function toTree(schema: Schema): Root | null {
  const found = value(schema);
  return found && { id: freshId(), ...found };
}

type Value = Omit<Member, "id" | "name" | "required">;

function value(schema: Schema): Value | null {
  if (!Object.keys(schema).every((key) => KNOWN.has(key)) || "title" in schema) return null;
  const description = typeof schema.description === "string" ? schema.description : "";
  if (schema.type === "array") return listValue(schema, description);
  const type = schema.type === undefined ? "any" : schema.type;
  if (!MEMBER_TYPES.includes(type as MemberType) || "items" in schema) return null;
  const choices = choicesOf(schema, type as MemberType);
  const members = type === "object" ? membersOf(schema) : [];
  if (!choices || !members || (type !== "object" && hasMembers(schema))) return null;
  return { type: type as MemberType, list: false, description, choices, members };
}

function listValue(schema: Schema, description: string): Value | null {
  if (hasMembers(schema) || "enum" in schema) return null;
  const items = schema.items === undefined ? {} : schema.items;
  const inner = isSchema(items) ? value(items) : null;
  if (!inner || inner.list || inner.description) return null;
  return { ...inner, list: true, description };
}

const hasMembers = (schema: Schema) =>
  "properties" in schema || "required" in schema || "additionalProperties" in schema;

function choicesOf(schema: Schema, type: MemberType): string[] | null {
  if (schema.enum === undefined) return [];
  const listed = Array.isArray(schema.enum) ? schema.enum : [];
  const fits = type === "string" && listed.length > 0 && listed.every((one) => typeof one === "string");
  return fits ? (listed as string[]) : null;
}

function membersOf(schema: Schema): Member[] | null {
  const properties = schema.properties ?? {};
  // Closed or not is kept only in its usual form: open, as the tree writes it.
  if (!isSchema(properties) || (schema.additionalProperties ?? true) !== true) return null;
  const required = Array.isArray(schema.required) ? schema.required : [];
  if (required.some((name) => typeof name !== "string" || !(name in properties))) return null;
  const found: Member[] = [];
  for (const [name, inner] of Object.entries(properties)) {
    const read = isSchema(inner) ? value(inner) : null;
    if (!read) return null;
    found.push({ id: freshId(), name, required: required.includes(name), ...read });
  }
  return found;
}

/** The schema of a tree. Fields without a name are not written. */
export function toSchema(root: Root | Member): Schema {
  const about: Schema = root.description ? { description: root.description } : {};
  if (root.list) return { type: "array", items: bare(root), ...about };
  return { ...bare(root), ...about };
}

function bare({ type, choices, members }: Root): Schema {
  if (type === "any") return {};
  if (type !== "object") return choices.length > 0 ? { type, enum: choices } : { type };
  const named = members.filter((member) => member.name.trim() !== "");
  const required = named.filter((member) => member.required).map((member) => member.name.trim());
  return {
    type,
    ...(named.length > 0
      ? { properties: Object.fromEntries(named.map((member) => [member.name.trim(), toSchema(member)])) }
      : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** The schema of values such as this one: what it has is required; of a list, what all its items have. */
export function schemaOfExample(example: JsonValue): Schema {
  if (example === null) return {};
  if (Array.isArray(example)) return example.length > 0 ? { type: "array", items: merged(example) } : { type: "array" };
  if (typeof example === "object") {
    const properties = Object.fromEntries(
      Object.entries(example).map(([name, inner]) => [name, schemaOfExample(inner as JsonValue)]),
    );
    const required = Object.keys(properties);
    return required.length > 0 ? { type: "object", properties, required } : { type: "object" };
  }
  if (typeof example === "number") return { type: Number.isInteger(example) ? "integer" : "number" };
  return { type: typeof example };
}

function merged(items: JsonValue[]): Schema {
  return items.map(schemaOfExample).reduce(joined);
}

/** The schema of what either one describes; `{}` where they have nothing in common. */
function joined(one: Schema, other: Schema): Schema {
  if (JSON.stringify(one) === JSON.stringify(other)) return one;
  const types = new Set([one.type, other.type]);
  if (types.size === 2 && types.has("integer") && types.has("number")) return { type: "number" };
  if (one.type === "array" && other.type === "array") {
    if (!isSchema(one.items)) return other;
    return isSchema(other.items) ? { type: "array", items: joined(one.items, other.items) } : one;
  }
  if (one.type !== "object" || other.type !== "object") return {};
  const left = isSchema(one.properties) ? one.properties : {};
  const right = isSchema(other.properties) ? other.properties : {};
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  const properties = Object.fromEntries(
    names.map((name) => {
      const [a, b] = [left[name], right[name]];
      return [name, isSchema(a) && isSchema(b) ? joined(a, b) : ((a ?? b) as JsonValue)];
    }),
  );
  const lists = [one.required, other.required].map((list) => (Array.isArray(list) ? list : []));
  const required = (lists[0] ?? []).filter((name) => lists[1]?.includes(name));
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
}
