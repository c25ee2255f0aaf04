import type { FlowNode, FormField, Template } from "@/api/types";
import type { Document } from "@/lib/draft";
import { nodeName } from "../nodeName";
import { configures, mainOutput, nodeTemplate } from "./nodeTemplate";
import { contractSchema, membersOf, missingMember, promised, type Schema, typeName } from "./schemaPaths";
import { before, wiringOf } from "./wiring";

/** Something that `{{...}}` may stand for where it is written. */
interface Variable {
  /** What stands between the braces. */
  path: string;
  /** What people call it: a form field's label, an output's. */
  label: string;
  /** The type of a port or of JSON, in one word. */
  type: string;
  depth: number;
}

export interface VariableGroup {
  /** `flow_input` or a step's id. */
  id: string;
  /** A step's name and its number; empty for the run's input. */
  label: string;
  number: number;
  variables: Variable[];
}

const FLOW_INPUT = "flow_input";
const DEEPEST = 4;

type Parts = Pick<Document, "nodes" | "order" | "edges" | "form">;

/** Everything that a node's texts may refer to: the run's input, then the steps before it, nearest first. */
export function variablesAt(
  document: Parts,
  templates: Record<string, Template>,
  nodeId: string,
  expected: Record<string, Schema> = {},
): VariableGroup[] {
  const wiring = wiringOf(document, templates);
  const steps = before(wiring, nodeId).map((id) =>
    stepGroup(document, templates, id, wiring.order.indexOf(id) + 1, expected[id] ?? null),
  );
  return [inputGroup(document.form), ...steps.reverse()];
}

function inputGroup(form: FormField[]): VariableGroup {
  const asked = form.map((field) => ({
    path: `${FLOW_INPUT}.${field.id}`,
    label: field.label || field.id,
    type: field.type ?? "text",
    depth: 0,
  }));
  const text = { path: `${FLOW_INPUT}.text`, label: "", type: "text", depth: 0 };
  const hasText = form.some((field) => field.id === "text");
  return { id: FLOW_INPUT, label: "", number: 0, variables: hasText ? asked : [...asked, text] };
}

function stepGroup(
  document: Parts,
  templates: Record<string, Template>,
  id: string,
  number: number,
  expected: Schema | null,
): VariableGroup {
  const node = document.nodes[id];
  const template = node && nodeTemplate(node, templates);
  const main = mainOutput(template);
  const variables: Variable[] = [];
  for (const output of template?.outputs ?? []) {
    if (configures(output.type)) continue;
    const name = output.name === main?.name ? "output" : output.name;
    variables.push({ path: `${id}.${name}`, label: output.label || output.name, type: output.type, depth: 0 });
    const schema = output.name === main?.name && node ? (promised(node) ?? expected) : null;
    if (schema) variables.push(...inside(schema, `${id}.${name}`, 1));
  }
  return { id, label: node ? nodeName(node, { [node.type]: template }) : id, number, variables };
}

function inside(schema: Schema, path: string, depth: number): Variable[] {
  if (depth > DEEPEST) return [];
  return membersOf(schema).flatMap(({ name, schema: inner }) => [
    { path: `${path}.${name}`, label: name, type: typeName(inner), depth },
    ...inside(inner, `${path}.${name}`, depth + 1),
  ]);
}

export type ReferenceFault = { kind: "step" | "later" | "output" | "member" | "field"; name: string };

/** Why a reference finds nothing where it stands; null when it may, or when it is no reference of ours. */
export function referenceFault(
  document: Parts,
  templates: Record<string, Template>,
  nodeId: string,
  path: string[],
): ReferenceFault | null {
  const [root = "", name] = path;
  if (root === FLOW_INPUT) return inputFault(document.form, name);
  const wiring = wiringOf(document, templates);
  const numbered = /^step_(\d+)$/.exec(root);
  const id = root in document.nodes ? root : numbered ? wiring.order[Number(numbered[1]) - 1] : undefined;
  const node = id === undefined ? undefined : document.nodes[id];
  if (id === undefined || !node) {
    return numbered || name === "output" || path.length > 1 ? { kind: "step", name: root } : null;
  }
  if (wiring.order.length === wiring.steps.length && !before(wiring, nodeId).includes(id)) {
    return { kind: "later", name: nodeName(node, templates) };
  }
  return outputFault(node, nodeTemplate(node, templates), path.slice(1));
}

function outputFault(
  node: FlowNode,
  template: Template | undefined,
  [name, ...inner]: string[],
): ReferenceFault | null {
  if (!template || name === undefined) return null;
  const main = mainOutput(template)?.name;
  const given = (template.outputs ?? []).filter((one) => !configures(one.type)).map((one) => one.name);
  if (![...given, "output", "file_ids"].includes(name)) return { kind: "output", name };
  if (name !== "output" && name !== main) return null;
  const missing = missingMember(contractSchema(node.policy?.output_contract), inner);
  return missing === null ? null : { kind: "member", name: missing };
}

function inputFault(form: FormField[], name: string | undefined): ReferenceFault | null {
  if (name === undefined || name === "text" || form.some((field) => field.id === name)) return null;
  return form.length > 0 ? { kind: "field", name } : null;
}
