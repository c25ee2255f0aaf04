import type { FieldTemplate, FlowNode, Template } from "@/api/types";

/** What somebody is about to mention: the part of the text that is replaced, and what they typed of it. */
export interface Mention {
  kind: "node" | "field";
  from: number;
  to: number;
  query: string;
  /** The node whose fields are asked for. */
  nodeId: string;
}

export interface Choice {
  /** What is put in: a node's id, or a field's name. */
  value: string;
  label: string;
  detail: string;
}

const NODE = /(?:^|[\s(])@([^\s@'"]*)$/;
const FIELD = /'([A-Za-z0-9_-]+)'\.([A-Za-z0-9_]*)$/;

/** The mention that ends at the caret: `@name` of a node, or a dot right behind a node that was mentioned. */
export function mentionAt(text: string, caret: number, nodes: Record<string, unknown>): Mention | null {
  const before = text.slice(0, caret);
  const field = FIELD.exec(before);
  if (field?.[1] !== undefined && field[1] in nodes) {
    return { kind: "field", from: field.index, to: caret, query: field[2] ?? "", nodeId: field[1] };
  }
  const node = NODE.exec(before);
  if (!node) return null;
  const query = node[1] ?? "";
  return { kind: "node", from: caret - query.length - 1, to: caret, query, nodeId: "" };
}

/** Nodes of the flow that a query finds, those that begin with it first. */
export function nodeChoices(nodes: FlowNode[], templates: Record<string, Template>, query: string): Choice[] {
  const all = nodes
    .filter((node) => !templates[node.type]?.annotation)
    .map((node) => ({
      value: node.id,
      label: node.label || node.id,
      detail: templates[node.type]?.label ?? node.type,
    }));
  return found(all, query);
}

/** Fields of a node that a person sees, by their labels; code and hidden ones are none. */
export function fieldChoices(template: Template | undefined, query: string): Choice[] {
  const shown = (field: FieldTemplate) => field.kind !== "code" && !field.name.startsWith("_");
  const all = (template?.fields ?? [])
    .filter(shown)
    .map((field) => ({ value: field.name, label: field.label || field.name, detail: field.name }));
  return found(all, query);
}

/** The text with the mention in it, and where the caret goes. A node's is open for a dot; a field's is finished. */
export function mentioned(text: string, mention: Mention, value: string): { text: string; caret: number } {
  const token = mention.kind === "node" ? `'${value}'` : `'${mention.nodeId}.${value}' `;
  const after = text.slice(mention.to);
  const caret = mention.from + token.length;
  return { text: text.slice(0, mention.from) + token + after, caret };
}

const MOST = 8;

function found(all: Choice[], query: string): Choice[] {
  const wanted = query.toLowerCase();
  const rank = (one: Choice) => {
    const words = [one.value.toLowerCase(), one.label.toLowerCase(), one.detail.toLowerCase()];
    if (words.some((word) => word.startsWith(wanted))) return 0;
    return words.some((word) => word.includes(wanted)) ? 1 : 2;
  };
  return all
    .map((one) => ({ one, rank: rank(one) }))
    .filter((entry) => entry.rank < 2)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MOST)
    .map((entry) => entry.one);
}
