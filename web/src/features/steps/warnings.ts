import type { components } from "@/api/schema";
import type { FlowNode, Template } from "@/api/types";
import { modelName } from "@/components/models/modelValue";
import { policyOf } from "@/components/policy";
import type { Document } from "@/lib/draft";
import { contractSchema, mainOutput, nodeTemplate, type Wiring } from "@/lib/wiring";

type Model = components["schemas"]["ModelInfo"];
type Media = "image" | "audio";

/** What may go wrong between steps; told in yellow, never refused. */
export interface Warning {
  kind: "vision" | "hearing" | "type";
  /** The model, or the step before. */
  name: string;
  given: string;
  wanted: string;
}

/** What may go wrong at a step: its model cannot take its input, or the step before gives another kind. */
export function warningsAt(
  document: Document,
  templates: Record<string, Template>,
  wiring: Wiring,
  models: readonly Model[],
  id: string,
): Warning[] {
  const node = document.nodes[id];
  if (!node) return [];
  return [
    ...modelWarnings(document, templates, wiring, models, node),
    ...typeWarnings(document, templates, wiring, node),
  ];
}

function modelWarnings(
  document: Document,
  templates: Record<string, Template>,
  wiring: Wiring,
  models: readonly Model[],
  node: FlowNode,
): Warning[] {
  const field = templates[node.type]?.fields?.find((one) => one.kind === "model");
  const asked =
    field && modelName(node.params?.[field.name] ?? node.linked?.[field.name] ?? field.default ?? undefined);
  const model = asked && models.find((one) => one.provider === asked.provider && one.name === asked.name);
  // Of a model that the catalogue does not know nothing is said.
  if (!model || model.known === false || node.type === "Transcribe") return [];
  const media = mediaInto(document, templates, wiring, node);
  const name = model.label;
  return [
    ...(media.has("image") && !model.vision ? [{ kind: "vision" as const, name, given: "image", wanted: "" }] : []),
    ...(media.has("audio") && !model.audio ? [{ kind: "hearing" as const, name, given: "audio", wanted: "" }] : []),
  ];
}

/** Pictures and sound that reach a step: by its policy, from the form, over edges of files. */
function mediaInto(
  document: Document,
  templates: Record<string, Template>,
  wiring: Wiring,
  node: FlowNode,
): ReadonlySet<Media> {
  const found = new Set<Media>();
  const add = (kind: string | null | undefined) => {
    if (kind === "image" || kind === "audio") found.add(kind);
  };
  const policy = policyOf(node);
  add(policy.input_type);
  add(typeof policy.input_contract?.type === "string" ? policy.input_contract.type : null);
  for (const edge of wiring.arriving[node.id] ?? []) {
    const source = document.nodes[edge.source];
    if (!source) continue;
    const promised = source.policy?.output_contract?.type;
    add(typeof promised === "string" ? promised : null);
    const output = nodeTemplate(source, templates)?.outputs?.find((one) => one.name === edge.output);
    if (source.type === "FileInput" && output) for (const type of askedTypes(document, source)) add(type);
  }
  return found;
}

/** The kinds of files that a `FileInput` may give: of the form field that it names, else of all. */
function askedTypes(document: Document, node: FlowNode): string[] {
  const wanted = node.params?.field;
  return document.form.filter((one) => !wanted || one.id === wanted).map((one) => one.type ?? "text");
}

const FILES = new Set(["image", "audio", "document", "file"]);

function typeWarnings(
  document: Document,
  templates: Record<string, Template>,
  wiring: Wiring,
  node: FlowNode,
): Warning[] {
  const policy = policyOf(node);
  if (policy.input_source !== "previous_step" && policy.input_source !== "all_previous_steps") return [];
  const wanted = wantedKind(node);
  if (!wanted) return [];
  const read = new Set(wiring.implied[node.id]);
  const parents = (wiring.parents[node.id] ?? []).filter((id) => !read.has(id));
  return parents.flatMap((id): Warning[] => {
    const source = document.nodes[id];
    const template = source && nodeTemplate(source, templates);
    if (!source || !template) return [];
    const given = givenKind(source, template);
    const fits = given === null || wanted === given || wanted === "file" || (wanted === "text" && given === "json");
    if (fits || (given === "file" && FILES.has(wanted))) return [];
    return [{ kind: "type", name: source.label || template.label, given, wanted }];
  });
}

function wantedKind(node: FlowNode): string | null {
  const { input_type: type, input_contract: contract } = policyOf(node);
  if (contract) return typeof contract.type === "string" && !contractSchema(contract) ? contract.type : "json";
  return type === "any" ? null : type;
}

/** What a step gives, in the words of policies; null where that is not known. */
function givenKind(node: FlowNode, template: Template): string | null {
  const { output_type: type, output_contract: contract } = policyOf(node);
  if (contract) return typeof contract.type === "string" && !contractSchema(contract) ? contract.type : "json";
  if (type === "json") return "json";
  switch (mainOutput(template)?.type) {
    case "Text":
    case "Message":
      return "text";
    case "Data":
    case "Table":
      return "json";
    case "File":
      return "file";
    default:
      return null;
  }
}
