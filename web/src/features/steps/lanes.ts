import type { Template } from "@/api/types";
import { type Document, edgeId } from "@/lib/draft";
import { fit } from "@/lib/ports";
import { configures, mainField, mainOutput, nodeTemplate, outputType, type Wiring } from "@/lib/wiring";

/** A step in the list: how far it stands in, and the branch that leads to it. */
export interface Lane {
  id: string;
  depth: number;
  /** The step that splits the way here, and by which of its outputs; null where the way does not split. */
  split: { from: string; output: string | null } | null;
}

/** Steps in an order in which they can run, those of one branch together; what stands on a cycle comes last. */
export function lanesOf(wiring: Wiring): Lane[] {
  const found: Lane[] = [];
  const depths = new Map<string, number>();
  const visit = (id: string) => {
    if (depths.has(id)) return;
    const lane = laneOf(wiring, id, depths);
    depths.set(id, lane.depth);
    found.push(lane);
    for (const child of wiring.children[id] ?? []) {
      if ((wiring.parents[child] ?? []).every((parent) => depths.has(parent))) visit(child);
    }
  };
  for (const id of wiring.order) if ((wiring.parents[id] ?? []).length === 0) visit(id);
  const rest = wiring.steps.filter((id) => !depths.has(id));
  return [...found, ...rest.map((id): Lane => ({ id, depth: 0, split: null }))];
}

function laneOf(wiring: Wiring, id: string, depths: ReadonlyMap<string, number>): Lane {
  const parents = wiring.parents[id] ?? [];
  const depth = (one: string) => depths.get(one) ?? 0;
  const [only] = parents;
  if (only === undefined) return { id, depth: 0, split: null };
  // Where branches meet again, the list goes back out to where they split.
  if (parents.length > 1) return { id, depth: Math.max(0, Math.min(...parents.map(depth)) - 1), split: null };
  const ways = (wiring.children[only] ?? []).filter(
    (child) => (wiring.parents[child] ?? []).length === 1 && !wiring.implied[child]?.includes(only),
  );
  if (ways.length < 2) return { id, depth: depth(only), split: null };
  const edges = (wiring.arriving[id] ?? []).filter((edge) => edge.source === only);
  return {
    id,
    depth: depth(only) + 1,
    split: { from: only, output: edges.length === 1 ? (edges[0]?.output ?? null) : null },
  };
}

export interface Rewiring {
  remove: string[];
  add: { source: string; output: string; target: string; input: string }[];
}

type Parts = Pick<Document, "nodes" | "edges">;

/** The edges that change when a step and the only one behind it change places; null where the graph is no chain. */
export function swapped(
  { nodes }: Parts,
  templates: Record<string, Template>,
  wiring: Wiring,
  upper: string,
): (Rewiring & { lower: string }) | null {
  const data = (list: Wiring["arriving"], id: string) =>
    (list[id] ?? []).filter((edge) => {
      const node = nodes[edge.source];
      return node && !configures(outputType(nodeTemplate(node, templates), edge.output));
    });
  const between = data(wiring.leaving, upper);
  const lower = between[0]?.target;
  if (between.length !== 1 || lower === undefined) return null;
  const before = data(wiring.arriving, upper);
  const after = data(wiring.leaving, lower);
  if (before.length > 1 || after.length > 1 || data(wiring.arriving, lower).length !== 1) return null;
  const [first] = before;
  const [last] = after;
  const links: [{ source: string; output?: string }, { target: string; input?: string }][] = [
    ...(first ? [[first, { target: lower }] as [typeof first, { target: string }]] : []),
    [{ source: lower }, { target: upper }],
    ...(last ? [[{ source: upper }, last] as [{ source: string }, typeof last]] : []),
  ];
  const add = links.map(([from, to]) => linked(nodes, templates, from, to));
  if (!add.every((edge) => edge !== null)) return null;
  return { lower, add, remove: [...before, ...between, ...after].map(edgeId) };
}

/** An edge between two steps: by their main output and input unless others are named; null where types do not fit. */
export function linked(
  nodes: Document["nodes"],
  templates: Record<string, Template>,
  from: { source: string; output?: string },
  to: { target: string; input?: string },
): Rewiring["add"][number] | null {
  const source = nodes[from.source];
  const target = nodes[to.target];
  const given = source && nodeTemplate(source, templates);
  const wanted = target && nodeTemplate(target, templates);
  const output = from.output ? given?.outputs?.find((one) => one.name === from.output) : mainOutput(given);
  const input = to.input ? wanted?.fields?.find((one) => one.name === to.input) : mainField(wanted);
  if (!output || !input || !fit(output.type, input.types ?? [])) return null;
  return { source: from.source, output: output.name, target: to.target, input: input.name };
}

/** Components whose main input takes what a step gives; every one that begins a flow where nothing is before. */
export function fitting(templates: Record<string, Template>, before: Template | undefined): Template[] {
  const output = mainOutput(before);
  return Object.values(templates).filter((one) => {
    if (one.annotation || (one.outputs ?? []).every((out) => configures(out.type)) || one.category === "note")
      return false;
    const input = mainField(one);
    return output ? input !== undefined && fit(output.type, input.types ?? []) !== null : !mainField(one)?.required;
  });
}
