import type { FieldKind, FieldTemplate, JsonValue } from "@/api/types";
import { Field } from "@/components/ui";
import { isSchema, type Schema } from "@/lib/wiring";
import { FieldControl } from "./FieldControl";

const KINDS: Record<string, FieldKind> = { string: "text", number: "number", integer: "integer", boolean: "boolean" };

/** The members of a schema that a plain form can hold; null where it says more. */
export function simpleMembers(schema: Schema): FieldTemplate[] | null {
  if (schema.type !== "object" || !isSchema(schema.properties)) return null;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const found = Object.entries(schema.properties).map(([name, inner]) =>
    isSchema(inner) ? simpleMember(name, inner, required.includes(name)) : null,
  );
  return found.every((one) => one !== null) ? found : null;
}

/** A field for every member of a schema; what a plain form cannot hold is edited as JSON. */
export function schemaMembers(schema: Schema): FieldTemplate[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(isSchema(schema.properties) ? schema.properties : {}).map(([name, one]) => {
    const inner = isSchema(one) ? one : {};
    const description = typeof inner.description === "string" ? inner.description : "";
    const asJson: FieldTemplate = { name, kind: "json", label: name, help: description, schema_: inner };
    return simpleMember(name, inner, required.includes(name)) ?? { ...asJson, required: required.includes(name) };
  });
}

function simpleMember(name: string, schema: Schema, required: boolean): FieldTemplate | null {
  const { enum: options, items, title, description } = schema;
  const words = Array.isArray(options) && options.every((one) => typeof one === "string") ? options : null;
  const isList = schema.type === "array" && isSchema(items) && items.type === "string";
  const kind = words ? "select" : isList ? "json" : KINDS[String(schema.type)];
  if (!kind || (options !== undefined && !words)) return null;
  return {
    name,
    kind,
    required,
    label: typeof title === "string" ? title : name,
    help: typeof description === "string" ? description : "",
    ...(words ? { options: words } : {}),
    ...(isList ? { schema_: schema } : {}),
  };
}

interface SchemaFormProps {
  label: string;
  schema: Schema;
  value: Schema;
  onChange: (value: JsonValue | undefined) => void;
  nodeId?: string | undefined;
  /** Its fields, where the schema holds more than a plain form. */
  members?: FieldTemplate[];
}

/** A form made from a simple schema: one field a member. */
export function SchemaForm({ label, schema, value, onChange, nodeId, members }: SchemaFormProps) {
  const put = (name: string, next: JsonValue | undefined) => {
    const { [name]: _, ...rest } = value;
    const made = next === undefined ? rest : { ...rest, [name]: next };
    onChange(Object.keys(made).length > 0 ? made : undefined);
  };
  return (
    <fieldset aria-label={label} className="flex flex-col gap-3 border-line border-l-2 pl-3">
      {(members ?? simpleMembers(schema) ?? []).map((member) => (
        <Field key={member.name} label={member.label} help={member.help} required={member.required ?? false}>
          {(control) => (
            <FieldControl
              {...control}
              field={member}
              value={value[member.name]}
              onChange={(next) => put(member.name, next)}
              {...(nodeId ? { nodeId } : {})}
            />
          )}
        </Field>
      ))}
    </fieldset>
  );
}
