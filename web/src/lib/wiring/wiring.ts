import type { FlowEdge, Template } from "@/api/types";
import type { Document } from "@/lib/draft";
import { running, withImplied } from "./implied";
import { rootsOf } from "./mentions";
import { configures, nodeTemplate, outputType } from "./nodeTemplate";

/** A flow with its edges resolved, by the rules of the server's graph/wiring.py. */
export interface Wiring {
  /** Nodes that run, in the flow's order. */
  steps: string[];
  /** Steps, parents before children; shorter than `steps` when there is a cycle. */
  order: string[];
  parents: Record<string, string[]>;
  children: Record<string, string[]>;
  /** Step to those of its parents that only a reference such as `{{page.text}}` names: no edge is needed for them. */
  implied: Record<string, string[]>;
  /** Edges into a node. */
  arriving: Record<string, FlowEdge[]>;
  leaving: Record<string, FlowEdge[]>;
  /** Nodes that only bring a model or tools to others. */
  configuration: ReadonlySet<string>;
}

type Parts = Pick<Document, "nodes" | "order" | "edges">;

let last: { nodes: unknown; order: unknown; edges: unknown; templates: unknown; wiring: Wiring } | null = null;

/** The wiring of a document, computed once for all who ask about the same one. */
export function wiringOf(document: Parts, templates: Record<string, Template>): Wiring {
  const { nodes, order, edges } = document;
  if (last && last.nodes === nodes && last.order === order && last.edges === edges && last.templates === templates) {
    return last.wiring;
  }
  last = { nodes, order, edges, templates, wiring: wire(document, templates) };
  return last.wiring;
}

export function wire({ nodes, order, edges }: Parts, templates: Record<string, Template>): Wiring {
  const lists = () => Object.fromEntries(order.map((id) => [id, [] as FlowEdge[]]));
  const arriving = lists();
  const leaving = lists();
  const data: FlowEdge[] = [];
  const feeding = new Set<string>();
  for (const edge of Object.values(edges)) {
    const source = nodes[edge.source];
    if (!source || !nodes[edge.target]) continue;
    arriving[edge.target]?.push(edge);
    leaving[edge.source]?.push(edge);
    if (configures(outputType(nodeTemplate(source, templates), edge.output))) continue;
    data.push(edge);
    feeding.add(edge.source);
  }
  const configuration = new Set(order.filter((id) => leaving[id]?.length && !feeding.has(id)));
  const steps = order.filter((id) => !configuration.has(id) && !isNote(nodes[id]?.type, templates));
  const known = new Set(steps);
  const links = () => Object.fromEntries(steps.map((id) => [id, new Set<string>()]));
  const parents = links();
  const children = links();
  for (const { source, target } of data) {
    if (!known.has(source) || !known.has(target)) continue;
    parents[target]?.add(source);
    children[source]?.add(target);
  }
  const listed = (found: Record<string, Set<string>>) =>
    Object.fromEntries(Object.entries(found).map(([id, ids]) => [id, steps.filter((one) => ids.has(one))]));
  const up = listed(parents);
  const down = listed(children);
  const edged = {
    steps,
    order: running(steps, up, down),
    parents: up,
    children: down,
    arriving,
    leaving,
    configuration,
    implied: {},
  };
  return withImplied(edged, namedSteps(nodes, order, edged, templates));
}

/** Each step that a reference names by its id, with the step that reads it; an alias names none. */
function namedSteps(
  nodes: Parts["nodes"],
  order: string[],
  wiring: Wiring,
  templates: Record<string, Template>,
): [string, string][] {
  const members = new Set(wiring.steps);
  return order.flatMap((id): [string, string][] => {
    const node = nodes[id];
    if (!node || isNote(node.type, templates)) return [];
    const readers = wiring.configuration.has(node.id) ? configuredSteps(nodes, wiring, templates, node.id) : [node.id];
    const sources = rootsOf(node, nodeTemplate(node, templates)).filter((root) => members.has(root));
    return sources.flatMap((source) =>
      readers.filter((reader) => reader !== source).map((reader): [string, string] => [source, reader]),
    );
  });
}

/** The steps that a configuration node configures, directly or through others. */
function configuredSteps(
  nodes: Parts["nodes"],
  wiring: Wiring,
  templates: Record<string, Template>,
  id: string,
): string[] {
  const reached = new Set<string>();
  const waiting = [id];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    const source = nodes[one];
    for (const { output, target } of wiring.leaving[one] ?? []) {
      if (!source || reached.has(target) || !configures(outputType(nodeTemplate(source, templates), output))) continue;
      reached.add(target);
      waiting.push(target);
    }
  }
  return [...reached].filter((one) => wiring.steps.includes(one));
}

/** Nodes that neither an edge nor a reference connects to the rest; a flow of one node has none. */
export function orphans({ nodes, order }: Parts, templates: Record<string, Template>, wiring: Wiring): string[] {
  const members = order.filter((id) => !isNote(nodes[id]?.type, templates));
  if (members.length < 2) return [];
  const links = (id: string) =>
    [wiring.arriving, wiring.leaving, wiring.parents, wiring.children].map((one) => one[id]);
  return members.filter((id) => links(id).every((found) => !found?.length));
}

const isNote = (type: string | undefined, templates: Record<string, Template>) =>
  type === "Note" || (type !== undefined && templates[type]?.annotation === true);

/** Steps that run before a node, in running order. For what is attached to steps: before those. */
export function before(wiring: Wiring, id: string): string[] {
  const starts = wiring.configuration.has(id) ? (wiring.leaving[id] ?? []).map((edge) => edge.target) : [id];
  const found = new Set<string>();
  const waiting = starts.flatMap((one) => wiring.parents[one] ?? []);
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (found.has(one)) continue;
    found.add(one);
    waiting.push(...(wiring.parents[one] ?? []));
  }
  return wiring.order.filter((one) => found.has(one));
}
