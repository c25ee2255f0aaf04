import type { JsonValue } from "@/api/types";
import { type Document, edgeId, toDocument } from "@/lib/draft";
import type { FlowUpdate } from "./wire";

/** Make a change of the server's working flow in a document. What is not there is left alone. */
export function applyUpdate(draft: Document, update: FlowUpdate): void {
  switch (update.action) {
    case "set_flow":
      Object.assign(draft, toDocument(update.flow));
      return;
    case "add_component":
      if (!(update.node.id in draft.nodes)) draft.order.push(update.node.id);
      draft.nodes[update.node.id] = update.node;
      return;
    case "remove_component":
      removeNode(draft, update.component_id);
      return;
    case "connect":
      draft.edges[edgeId(update.edge)] = update.edge;
      return;
    case "disconnect":
      delete draft.edges[edgeId(update.edge)];
      return;
    case "configure": {
      const node = draft.nodes[update.component_id];
      if (node && update.node) Object.assign(node, { label: update.node.label, policy: update.node.policy });
      if (node) node.params = { ...node.params, ...update.params };
      return;
    }
    case "rename_component":
      renameNode(draft, update.component_id, update.new_id);
      return;
    default: // an edit or a plan waits for a person; which output is shown is nothing of the flow
  }
}

function removeNode(draft: Document, id: string): void {
  delete draft.nodes[id];
  draft.order = draft.order.filter((one) => one !== id);
  for (const [key, edge] of Object.entries(draft.edges)) {
    if (edge.source === id || edge.target === id) delete draft.edges[key];
  }
}

function renameNode(draft: Document, id: string, to: string): void {
  const node = draft.nodes[id];
  if (!node || to in draft.nodes) return;
  const names = { [id]: to };
  delete draft.nodes[id];
  draft.nodes[to] = { ...node, id: to };
  draft.order = draft.order.map((one) => (one === id ? to : one));
  for (const [key, other] of Object.entries(draft.nodes)) draft.nodes[key] = renamed(other, names) as typeof other;
  for (const [key, edge] of Object.entries(draft.edges)) {
    if (edge.source !== id && edge.target !== id) continue;
    delete draft.edges[key];
    const moved = { ...edge, source: names[edge.source] ?? edge.source, target: names[edge.target] ?? edge.target };
    draft.edges[edgeId(moved)] = moved;
  }
}

const REFERENCE = /\{\{\s*([^\s{}.]+)((?:\.[^\s{}.]+)*)\s*\}\}/g;

/** A value with every `{{node.output}}` in its texts naming the nodes anew. */
export function renamed(value: unknown, names: Record<string, string>): unknown {
  if (typeof value === "string") {
    return value.replace(REFERENCE, (whole, root: string, rest: string) =>
      Object.hasOwn(names, root) ? `{{${names[root]}${rest}}}` : whole,
    );
  }
  if (Array.isArray(value)) return value.map((one) => renamed(one, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value as Record<string, JsonValue>).map(([k, v]) => [k, renamed(v, names)]));
}
