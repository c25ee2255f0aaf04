import type { FieldTemplate, FlowNode, OutputTemplate, PortType, Template } from "@/api/types";
import { nodeTemplate } from "@/lib/wiring";

export interface InputPort {
  name: string;
  label: string;
  help: string;
  types: PortType[];
  many: boolean;
  main: boolean;
  required: boolean;
  advanced: boolean;
}

export interface OutputPort {
  name: string;
  label: string;
  help: string;
  /** Null where the component is not known. */
  type: PortType | null;
  branch: boolean;
}

export interface Ports {
  inputs: InputPort[];
  outputs: OutputPort[];
}

const TOOL_OUTPUT = "tool";
const NONE: Ports = { inputs: [], outputs: [] };
const found = new WeakMap<FlowNode, { template: Template | undefined; ports: Ports }>();

/** Every port of a node, those that its values make included; the same as `Catalog.template` of the server. */
export function portsOf(node: FlowNode, template: Template | undefined): Ports {
  const known = found.get(node);
  if (known && known.template === template) return known.ports;
  const ports = template ? read(node, template) : NONE;
  found.set(node, { template, ports });
  return ports;
}

/** The ports that a component has before anything is set. */
export function portsOfType(template: Template): Ports {
  return read({ params: {} }, template);
}

type Values = Pick<FlowNode, "params" | "policy">;

const madeTemplate = (node: Values, template: Template): Template =>
  nodeTemplate({ ...node, id: "", type: template.type }, { [template.type]: template }) ?? template;

function read(node: Values, template: Template): Ports {
  if (template.annotation) return NONE;
  const made = madeTemplate(node, template);
  const fields = [...(made.fields ?? []), ...placeholderFields(node, template)];
  const inputs = fields.filter((field) => (field.types?.length ?? 0) > 0).map(inputOf);
  if (!inputs.some((port) => port.main)) {
    const main = inputs.find((port) => !port.types.every((type) => type === "Model" || type === "Tool"));
    if (main) main.main = true;
  }
  const outputs = (made.outputs ?? []).map(outputOf);
  if (fields.some((field) => field.tool_mode) && !outputs.some((port) => port.name === TOOL_OUTPUT)) {
    outputs.push({ name: TOOL_OUTPUT, label: "Tool", help: "", type: "Tool", branch: false });
  }
  return { inputs, outputs };
}

function inputOf(field: FieldTemplate): InputPort {
  return {
    name: field.name,
    label: field.label || field.name,
    help: field.help ?? "",
    types: field.types ?? [],
    many: field.many ?? false,
    main: field.main ?? false,
    required: field.required ?? false,
    advanced: field.advanced ?? false,
  };
}

function outputOf(output: OutputTemplate): OutputPort {
  return {
    name: output.name,
    label: output.label || output.name,
    help: output.help ?? "",
    type: output.type,
    branch: output.branch ?? false,
  };
}

const PLACEHOLDER = /(?<!\{)\{([a-z_][a-z0-9_]{0,63})\}(?!\})/g;

/** A prompt template takes one text for each `{name}` in it. */
export function placeholderFields(node: Values, template: Template): FieldTemplate[] {
  const text = node.params?.template;
  if (template.type !== "PromptTemplate" || typeof text !== "string") return [];
  const names = new Set<string>();
  for (const match of text.matchAll(PLACEHOLDER)) if (match[1] && match[1] !== "template") names.add(match[1]);
  return [...names].map((name, position) => ({
    name,
    kind: "multiline",
    label: name.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase()),
    required: true,
    types: ["Text"],
    main: position === 0,
  }));
}
