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
  const own = node.type === "Switch" ? { ...found, outputs: switchOutputs(node.params?.cases) } : found;
  const made = node.policy?.output_type;
  const outputs = own.outputs ?? [];
  const missing = (output: OutputTemplate) => !outputs.some((one) => one.name === output.name);
  const added = [
    ...((made === "pdf" || made === "docx") && missing(DOCUMENT) ? [DOCUMENT] : []),
    ...(takesErrorEdge(node) && missing(FAILED) ? [FAILED] : []),
  ];
  return added.length > 0 ? { ...own, outputs: [...outputs, ...added] } : own;
}

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
