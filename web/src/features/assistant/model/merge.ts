import type { Flow, FlowNode } from "@/api/types";
import { type Document, edgeId, freeId, toDocument } from "@/lib/draft";
import { applyUpdate, renamed } from "./update";
import type { FlowUpdate } from "./wire";

/** Room between what is on the canvas and what is put below it. */
const GAP = 120;
const NODE_HEIGHT = 160;

/** A proposed flow with the changes that came after it, in their order. */
export function withTail(flow: Flow, tail: FlowUpdate[]): Document {
  const whole = structuredClone(toDocument(flow));
  for (const update of tail) applyUpdate(whole, structuredClone(update));
  return whole;
}

/**
 * Put a flow beside what is there. Ids that are taken get others, and everything in the flow that names them follows;
 * it stands below the rest. On an empty canvas it is the whole flow, as it was proposed.
 */
export function mergeInto(draft: Document, added: Document): string[] {
  if (draft.order.length === 0) {
    Object.assign(draft, structuredClone(added));
    return [...added.order];
  }
  const names = freeNames(draft, added);
  const shift = below(draft, added);
  for (const id of added.order) {
    const node = added.nodes[id];
    if (!node) continue;
    const moved = renamed(structuredClone(node), names) as FlowNode;
    const position = { x: (node.position?.x ?? 0) + shift.x, y: (node.position?.y ?? 0) + shift.y };
    const fresh = names[id] ?? id;
    draft.nodes[fresh] = { ...moved, id: fresh, position };
    draft.order.push(fresh);
  }
  for (const edge of Object.values(added.edges)) {
    const moved = { ...edge, source: names[edge.source] ?? edge.source, target: names[edge.target] ?? edge.target };
    draft.edges[edgeId(moved)] = moved;
  }
  const known = new Set(draft.form.map((field) => field.id));
  draft.form.push(...added.form.filter((field) => !known.has(field.id)));
  return added.order.map((id) => names[id] ?? id);
}

function freeNames(draft: Document, added: Document): Record<string, string> {
  const taken: Record<string, unknown> = { ...draft.nodes, ...added.nodes };
  const names: Record<string, string> = {};
  for (const id of added.order) {
    if (!(id in draft.nodes)) continue;
    names[id] = freeId(id, taken);
    taken[names[id]] = true;
  }
  return names;
}

function below(draft: Document, added: Document): { x: number; y: number } {
  const there = Object.values(draft.nodes).map((node) => ({ x: node.position?.x ?? 0, y: node.position?.y ?? 0 }));
  const coming = Object.values(added.nodes).map((node) => ({ x: node.position?.x ?? 0, y: node.position?.y ?? 0 }));
  const left = Math.min(...there.map((at) => at.x));
  const bottom = Math.max(...there.map((at) => at.y)) + NODE_HEIGHT;
  return {
    x: left - Math.min(...coming.map((at) => at.x)),
    y: bottom + GAP - Math.min(...coming.map((at) => at.y)),
  };
}
