import type { FlowEdge, FlowNode } from "@/api/types";
import type { Document } from "./document";

type Parts = Pick<Document, "nodes" | "edges">;

/** What of a node decides its result; its place and its name do not. */
function logicOf(node: FlowNode): string {
  const { id: _id, label: _label, position: _position, ...rest } = node;
  const known = logic.get(node) ?? JSON.stringify(sorted(rest));
  logic.set(node, known);
  return known;
}
const logic = new WeakMap<FlowNode, string>();

/** The same for members in any order; what is not set is as if it were absent. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => sorted(item) ?? null);
  if (typeof value !== "object" || value === null) return value === "" ? undefined : (value ?? undefined);
  const members = Object.entries(value)
    .map(([name, member]): [string, unknown] => [name, sorted(member)])
    .filter(([, member]) => member !== undefined);
  return members.length > 0 ? Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1))) : undefined;
}

const inputsOf = (edges: Record<string, FlowEdge>) => {
  const arriving: Record<string, string[]> = {};
  for (const edge of Object.values(edges)) {
    const list = arriving[edge.target] ?? [];
    list.push(`${edge.source}.${edge.output}>${edge.input}`);
    arriving[edge.target] = list;
  }
  return (id: string) => (arriving[id] ?? []).sort().join("\n");
};

/** The nodes whose logic changed between two drafts, and every node after them. */
export function staleNodes(ran: Parts, now: Parts): Set<string> {
  const [inputsThen, inputsNow] = [inputsOf(ran.edges), inputsOf(now.edges)];
  const changed = Object.values(now.nodes).filter((node) => {
    const before = ran.nodes[node.id];
    if (before === node && inputsThen(node.id) === inputsNow(node.id)) return false;
    return !before || logicOf(before) !== logicOf(node) || inputsThen(node.id) !== inputsNow(node.id);
  });
  const stale = new Set(changed.map((node) => node.id));
  if (stale.size === 0) return stale;
  const after = readersOf(now);
  const waiting = [...stale];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for (const reader of after[id] ?? []) {
      if (stale.has(reader)) continue;
      stale.add(reader);
      waiting.push(reader);
    }
  }
  return stale;
}

/** What a run was started from. */
export interface Ran extends Parts {
  runId: string;
}

const NONE: ReadonlySet<string> = new Set();
let last: { ran: Ran; nodes: Parts["nodes"]; edges: Parts["edges"]; stale: ReadonlySet<string> } | null = null;

interface State {
  ran: Ran | null;
  shownRun: { id: string } | null;
  document: Parts;
}

/** The nodes whose result in the run that is shown is not what the draft would give now. */
export function staleIn({ ran, shownRun, document: { nodes, edges } }: State): ReadonlySet<string> {
  if (!ran || ran.runId !== shownRun?.id) return NONE;
  if (last?.ran !== ran || last.nodes !== nodes || last.edges !== edges) {
    last = { ran, nodes, edges, stale: staleNodes(ran, { nodes, edges }) };
  }
  return last.stale;
}

/** Who reads a node: over an edge, or with a reference that names it. */
function readersOf({ nodes, edges }: Parts): Record<string, string[]> {
  const readers: Record<string, string[]> = {};
  const add = (source: string, reader: string) => {
    if (source === reader) return;
    const list = readers[source] ?? [];
    list.push(reader);
    readers[source] = list;
  };
  for (const edge of Object.values(edges)) add(edge.source, edge.target);
  for (const node of Object.values(nodes)) {
    for (const [, root = ""] of logicOf(node).matchAll(/\{\{\s*([^\s{}.]+)[^{}]*\}\}/gu)) {
      if (root in nodes) add(root, node.id);
    }
  }
  return readers;
}
