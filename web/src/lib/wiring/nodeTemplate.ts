import type { FlowNode, OutputTemplate, PortType, Template } from "@/api/types";

const OTHERWISE = "otherwise";
const MOST_CASES = 50;
export const ERROR = "error";
const FAILED: OutputTemplate = { name: ERROR, type: "Data", label: "Error", branch: true };
const DOCUMENT: OutputTemplate = { name: "document", type: "File", label: "Document" };

/** A node's template with the outputs that its own values and its policy give it. */
export function nodeTemplate(node: FlowNode, templates: Record<string, Template>): Template | undefined {
  const found = templates[node.type];
  if (!found) return undefined;
  const own = node.type === "Switch" ? { ...found, outputs: switchOutputs(node.params?.cases) } : declared(node, found);
  const made = node.policy?.output_type;
  const outputs = own.outputs ?? [];
  const missing = (output: OutputTemplate) => !outputs.some((one) => one.name === output.name);
  const added = [
    ...((made === "pdf" || made === "docx") && missing(DOCUMENT) ? [DOCUMENT] : []),
    ...(takesErrorEdge(node) && missing(FAILED) ? [FAILED] : []),
  ];
  return added.length > 0 ? { ...own, outputs: [...outputs, ...added] } : own;
}

const DATA_TYPES: ReadonlySet<unknown> = new Set<PortType>(["Text", "Message", "Data", "Table", "File"]);
const PORT = /^[a-z_][a-z0-9_]{0,63}$/;
const NEVER = ["tool", "document", "error", "output", "file_ids"];
/** Params in which a node declares ports, and names that it has anyway. */
const DECLARING: Record<string, { inputs?: string; outputs: string; taken: readonly string[] }> = {
  FormInput: { outputs: "types", taken: ["data", "text", ...NEVER] },
  RunFlow: { inputs: "inputs", outputs: "outputs", taken: ["result", "text", "run_id", ...NEVER] },
};
const FLOW_INPUTS = ["flow", "version", "text", "answers", "files", "inputs", "outputs"];

/** The template with the ports that the node's own values declare, each a name and its type. */
function declared(node: FlowNode, template: Template): Template {
  const where = DECLARING[node.type];
  if (!where) return template;
  const outputs = namesIn(node.params?.[where.outputs], where.taken);
  const inputs = where.inputs ? namesIn(node.params?.[where.inputs], FLOW_INPUTS) : [];
  if (outputs.length + inputs.length === 0) return template;
  return {
    ...template,
    outputs: [...(template.outputs ?? []), ...outputs.map(([name, type]) => ({ name, type, label: inWords(name) }))],
    fields: [
      ...(template.fields ?? []),
      ...inputs.map(([name, type]) => ({ name, kind: "json" as const, types: [type], label: inWords(name) })),
    ],
  };
}

function namesIn(value: unknown, taken: readonly string[]): [string, PortType][] {
  const entries = value && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : [];
  return entries.filter(
    (entry): entry is [string, PortType] =>
      DATA_TYPES.has(entry[1]) && PORT.test(entry[0]) && !taken.includes(entry[0]),
  );
}

const inWords = (name: string) => name.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());

/** Whether a failure of the node leaves by its output `error`. */
export const takesErrorEdge = (node: FlowNode | undefined) => node?.policy?.on_error === "error_edge";

/** One branch a case, named as the server names them, then `otherwise`. */
function switchOutputs(value: unknown): OutputTemplate[] {
  const cases = (Array.isArray(value) ? value : [])
    .filter((one): one is string => typeof one === "string" && one.trim() !== "")
    .slice(0, MOST_CASES);
  const taken = new Set([OTHERWISE, "tool"]);
  const named = cases.map((label, index): OutputTemplate => {
    const name = free(slug(label) || `case_${index + 1}`, taken);
    taken.add(name);
    return { name, type: "Data", label, branch: true };
  });
  return [...named, { name: OTHERWISE, type: "Data", label: "Otherwise", branch: true }];
}

function slug(text: string): string {
  const plain = text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\P{ASCII}/gu, "");
  const found = plain
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 60)
    .replace(/_+$/, "");
  return /^\d/.test(found) ? `case_${found}` : found;
}

function free(wanted: string, taken: Set<string>): string {
  if (!taken.has(wanted)) return wanted;
  for (let count = 2; ; count += 1) if (!taken.has(`${wanted}_${count}`)) return `${wanted}_${count}`;
}

const CONFIGURING: ReadonlySet<string> = new Set<PortType>(["Model", "Tool"]);
const BY_NAME: Record<string, PortType> = { tool: "Tool", tools: "Tool", model: "Model" };

export const configures = (type: PortType | undefined) => type !== undefined && CONFIGURING.has(type);

/** The type of an output, the virtual output `tool` included. */
export function outputType(template: Template | undefined, output: string): PortType | undefined {
  if (!template) return BY_NAME[output];
  const found = template.outputs?.find((one) => one.name === output)?.type;
  return found ?? (output === "tool" ? "Tool" : undefined);
}

/** The output that `{{step.output}}` stands for. */
export function mainOutput(template: Template | undefined): OutputTemplate | undefined {
  return template?.outputs?.find((one) => !configures(one.type));
}

/** The port that a step's input source fills. */
export function mainField(template: Template | undefined) {
  const data = (template?.fields ?? []).filter(
    (one) => one.types?.length && !one.types.every((type) => configures(type)),
  );
  return data.find((one) => one.main) ?? data[0];
}
