import type { Flow, FlowEdge, FlowNode } from "@/api/types";
import type { Mark } from "@/components/flow-drawing/looks";

interface ValueChange {
  path: string;
  kind: "added" | "removed" | "changed";
  before?: unknown;
  after?: unknown;
}

/** What the server says changed, as `changes` of a difference. Members that are empty are left out. */
export interface Changes {
  nodes_added?: { id: string; type: string; label?: string }[];
  nodes_removed?: { id: string; type: string; label?: string }[];
  nodes_changed?: { id: string; renamed_from?: string; changes: ValueChange[] }[];
  edges_added?: string[];
  edges_removed?: string[];
  flow_changes?: ValueChange[];
  reordered?: string[];
}

/** Both flows in one picture: the later one, with what it no longer has. */
export interface Comparison {
  flow: Flow;
  marks: Record<string, Mark>;
  edgeMarks: Record<string, Mark>;
}

const drawnId = (edge: FlowEdge) => `${edge.source}.${edge.output}>${edge.target}.${edge.input}`;
const spokenId = (edge: FlowEdge) => `${edge.source}.${edge.output} -> ${edge.target}.${edge.input}`;

export function compare(before: Flow, after: Flow, changes: Changes): Comparison {
  const gone = new Set(changes.nodes_removed?.map((node) => node.id));
  const there = new Set((after.nodes ?? []).map((node) => node.id));
  const removed = (before.nodes ?? []).filter((node) => gone.has(node.id) && !there.has(node.id));
  const lost = (before.edges ?? []).filter((edge) => changes.edges_removed?.includes(spokenId(edge)));
  const came = (after.edges ?? []).filter((edge) => changes.edges_added?.includes(spokenId(edge)));
  const marks: Record<string, Mark> = {};
  for (const node of changes.nodes_added ?? []) marks[node.id] = "added";
  for (const node of changes.nodes_changed ?? []) marks[node.id] = "changed";
  for (const node of removed) marks[node.id] = "removed";
  return {
    flow: {
      ...after,
      nodes: [...(after.nodes ?? []), ...aside(removed, after.nodes ?? [])],
      edges: [...(after.edges ?? []), ...lost],
    },
    marks,
    edgeMarks: Object.fromEntries([
      ...came.map((edge) => [drawnId(edge), "added"] as const),
      ...lost.map((edge) => [drawnId(edge), "removed"] as const),
    ]),
  };
}

const STEP = 130;
const TALL = 110;

/** Nodes that are gone, where they stood; lower where another stands now. */
function aside(removed: FlowNode[], there: FlowNode[]): FlowNode[] {
  const placed = [...there];
  return removed.map((node) => {
    const position = { x: node.position?.x ?? 0, y: node.position?.y ?? 0 };
    while (placed.some((other) => overlaps(position, other))) position.y += STEP;
    const moved = { ...node, position };
    placed.push(moved);
    return moved;
  });
}

function overlaps(at: { x: number; y: number }, other: FlowNode): boolean {
  return Math.abs(at.x - (other.position?.x ?? 0)) < 260 && Math.abs(at.y - (other.position?.y ?? 0)) < TALL;
}

/** One line of the list of changes. */
export interface ChangeLine {
  key: string;
  /** The node it is about; none for the flow itself. */
  nodeId: string | null;
  kind: Mark;
  what: "node" | "edge" | "field" | "renamed" | "order";
  /** The name of the node, the field, or the edge. */
  name: string;
  before: string | null;
  after: string | null;
}

/** Every change as a line: nodes first, then what changed in them, then edges and the flow. */
export function changeLines(changes: Changes): ChangeLine[] {
  const line = (kind: Mark, what: ChangeLine["what"], name: string, nodeId: string | null = null): ChangeLine => ({
    key: `${what}:${kind}:${nodeId ?? ""}:${name}`,
    nodeId,
    kind,
    what,
    name,
    before: null,
    after: null,
  });
  const called = (node: { id: string; label?: string }) => node.label || node.id;
  return [
    ...(changes.nodes_added ?? []).map((node) => line("added", "node", called(node), node.id)),
    ...(changes.nodes_removed ?? []).map((node) => line("removed", "node", called(node), node.id)),
    ...(changes.nodes_changed ?? []).flatMap((node) => [
      ...(node.renamed_from
        ? [{ ...line("changed", "renamed", node.id, node.id), before: node.renamed_from, after: node.id }]
        : []),
      ...node.changes.map((change) => valueLine(change, node.id)),
    ]),
    ...(changes.edges_added ?? []).map((edge) => line("added", "edge", edge)),
    ...(changes.edges_removed ?? []).map((edge) => line("removed", "edge", edge)),
    ...(changes.flow_changes ?? []).map((change) => valueLine(change, null)),
    ...(changes.reordered ?? []).map((what) => line("changed", "order", what)),
  ];
}

function valueLine(change: ValueChange, nodeId: string | null): ChangeLine {
  return {
    key: `field:${nodeId ?? ""}:${change.path}`,
    nodeId,
    kind: change.kind,
    what: "field",
    name: change.path,
    before: change.kind === "added" ? null : shown(change.before),
    after: change.kind === "removed" ? null : shown(change.after),
  };
}

/** A value as people read it: texts as they are, lists and objects one member a line. */
export function shown(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return value;
  if (typeof value !== "object") return String(value);
  const room = "  ".repeat(depth);
  const entries = Array.isArray(value)
    ? value.map((one) => ["–", one] as const)
    : Object.entries(value).map(([name, one]) => [`${name}:`, one] as const);
  return entries
    .map(([name, one]) => {
      const inner = shown(one, depth + 1);
      const nested = typeof one === "object" && one !== null && inner !== "";
      return nested ? `${room}${name}\n${inner}` : `${room}${name} ${inner}`;
    })
    .join("\n");
}

/** Whether a change is better read line by line than as two words. */
export const isLong = (line: ChangeLine) =>
  [line.before, line.after].some((text) => text !== null && (text.includes("\n") || text.length > 60));
