import type { Template } from "@/api/types";

const MEMBERS = {
  label: "field_label",
  type: "field_type",
  code: "code",
  name: "field_name",
  description: "field_description",
  form: "field_form",
  "policy.input_source": "field_input_source",
  "policy.input_type": "field_input_type",
  "policy.input_config": "field_input_config",
  "policy.input_contract": "field_input_contract",
  "policy.input_bindings": "field_input_bindings",
  "policy.output_mode": "field_output_mode",
  "policy.output_type": "field_output_type",
  "policy.output_config": "field_output_config",
  "policy.output_contract": "field_output_contract",
  "policy.output_classification_override": "field_class",
  "policy.tool_policy": "field_tool_policy",
  "policy.tool_allowlist": "field_tools",
  "policy.tool_approval": "field_tool_approval",
  "policy.outside_content": "field_outside_content",
  "policy.outside_allowlist": "field_outside_allowlist",
} as const;

type Key = (typeof MEMBERS)[keyof typeof MEMBERS];

/** A field as people know it: its label in the component, or a text of ours by `key`. */
export function fieldName(path: string, template: Template | undefined): { key: Key | null; name: string } {
  if (path in MEMBERS) return { key: MEMBERS[path as keyof typeof MEMBERS], name: path };
  const [root, ...rest] = path.split(".");
  const name = rest.join(".");
  if (root === "params") return { key: null, name: template?.fields?.find((one) => one.name === name)?.label || name };
  if (root === "policy") return { key: MEMBERS[`policy.${rest[0]}` as keyof typeof MEMBERS] ?? null, name };
  return { key: null, name: name || path };
}
