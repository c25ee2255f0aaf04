import type { FlowEdge, FlowNode } from "@/api/types";
import { type Document, edgeId, freeId } from "@/lib/draft";

/** Nodes and the edges between them, as they travel in the system's clipboard. */
export interface Clip {
  nodes: FlowNode[];
  edges: FlowEdge[];
}

export function copied(document: Document, ids: string[]): Clip {
  const chosen = new Set(ids);
  return {
    nodes: document.order.filter((id) => chosen.has(id)).flatMap((id) => document.nodes[id] ?? []),
    edges: Object.values(document.edges).filter((edge) => chosen.has(edge.source) && chosen.has(edge.target)),
  };
}

export const written = (clip: Clip): string => JSON.stringify({ headgate: 1, ...clip });

/**
 * Put a clip into a flow under ids that are free there, `offset` away; what its nodes say of each other, edges and
 * `{{name.output}}` both, goes along. Gives the new ids.
 */
export function pasteInto(draft: Document, clip: Clip, offset: { x: number; y: number }): string[] {
  const names = new Map<string, string>();
  const taken: Record<string, unknown> = { ...draft.nodes };
  for (const node of clip.nodes) {
    const id = node.id in taken ? freeId(node.id.replace(/_\d+$/, ""), taken) : node.id;
    taken[id] = true;
    names.set(node.id, id);
  }
  const changed = new Map([...names].filter(([from, to]) => from !== to));
  for (const node of clip.nodes) {
    const id = names.get(node.id) ?? node.id;
    const { x = 0, y = 0 } = node.position ?? {};
    draft.nodes[id] = {
      ...(changed.size > 0 ? (renamed(node, changed) as FlowNode) : node),
      id,
      linked: {},
      position: { x: Math.round(x + offset.x), y: Math.round(y + offset.y) },
    };
    draft.order.push(id);
  }
  for (const edge of clip.edges) {
    const moved = { ...edge, source: names.get(edge.source) ?? "", target: names.get(edge.target) ?? "" };
    if (moved.source && moved.target) draft.edges[edgeId(moved)] = moved;
  }
  return [...names.values()];
}

/** A value with the first word of each `{{...}}` in its texts put to its new name. */
function renamed(value: unknown, names: Map<string, string>): unknown {
  if (typeof value === "string") {
    return value.replace(/\{\{(\s*)([a-z][a-z0-9_]*)/g, (whole, space: string, name: string) => {
      const now = names.get(name);
      return now ? `{{${space}${now}` : whole;
    });
  }
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renamed(item, names)]));
  }
  return value;
}
