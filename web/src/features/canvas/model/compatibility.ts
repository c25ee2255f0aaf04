import type { FlowEdge, PortType, Template } from "@/api/types";
import { type Document, edgeId } from "@/lib/draft";
import { type Fit, fit, type InputPort, type OutputPort, portsOf, portsOfType } from "@/lib/ports";

type Templates = Record<string, Template>;

/** One end of a connection that is being made. */
export interface End {
  nodeId: string;
  port: string;
  side: "output" | "input";
}

export interface Connecting extends End {
  types: readonly PortType[];
  /** Nodes that it cannot lead to: the edges would run in a circle. */
  blocked: ReadonlySet<string>;
}

/** What there is to know, once, when somebody begins to connect. */
export function beginConnecting(document: Document, templates: Templates, end: End): Connecting {
  const node = document.nodes[end.nodeId];
  const ports = node ? portsOf(node, templates[node.type]) : { inputs: [], outputs: [] };
  const output = ports.outputs.find((port) => port.name === end.port)?.type;
  const types =
    end.side === "output"
      ? output
        ? [output]
        : []
      : (ports.inputs.find((port) => port.name === end.port)?.types ?? []);
  return { ...end, types, blocked: reached(document, end.nodeId, end.side === "output" ? "back" : "ahead") };
}

/** Whether a port of another node is the right other end. */
export function fitsPort(from: Connecting, other: End, types: readonly PortType[]): Fit {
  if (from.side === other.side || from.blocked.has(other.nodeId)) return null;
  const [source, targets] = from.side === "output" ? [from.types[0], types] : [types[0], from.types];
  return source ? fit(source, targets) : null;
}

/** Whether an edge may be: its types fit, it is not there yet, and nothing runs in a circle. */
export function canConnect(document: Document, templates: Templates, edge: FlowEdge, instead?: string): boolean {
  if (document.edges[edgeId(edge)]) return false;
  const [source, target] = [document.nodes[edge.source], document.nodes[edge.target]];
  if (!source || !target) return false;
  const type = portsOf(source, templates[source.type]).outputs.find((port) => port.name === edge.output)?.type;
  const input = portsOf(target, templates[target.type]).inputs.find((port) => port.name === edge.input);
  if (!type || !input || !fit(type, input.types)) return false;
  return !reached(document, edge.source, "back", instead).has(edge.target);
}

/** The node itself and everything before it, or everything behind it. */
function reached(document: Document, from: string, way: "back" | "ahead", without?: string): Set<string> {
  const next = new Map<string, string[]>();
  for (const [id, edge] of Object.entries(document.edges)) {
    if (id === without) continue;
    const [near, far] = way === "back" ? [edge.target, edge.source] : [edge.source, edge.target];
    const list = next.get(near);
    if (list) list.push(far);
    else next.set(near, [far]);
  }
  const seen = new Set([from]);
  const waiting = [from];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for (const other of next.get(id) ?? []) {
      if (!seen.has(other)) {
        seen.add(other);
        waiting.push(other);
      }
    }
  }
  return seen;
}

/** The port of a component that a connection would lead to: what fits as it is first, the main one first. */
export function bestPort(
  from: Pick<Connecting, "side" | "types">,
  template: Template,
): { port: string; fit: Fit } | null {
  const ports = portsOfType(template);
  if (from.side === "output") return bestInput(from.types[0], ports.inputs);
  return bestOutput(from.types, ports.outputs);
}

/** The input of a node on which something is dropped that is free and takes it best. */
export function bestInput(type: PortType | undefined, inputs: InputPort[], taken: readonly string[] = []) {
  if (!type) return null;
  const rank = (port: InputPort, how: Fit) =>
    (how === "exact" ? 0 : 4) +
    (port.main ? 0 : 1) +
    (taken.includes(port.name) && !port.many ? 16 : 0) +
    (port.advanced ? 8 : 0);
  const found = inputs
    .map((port) => ({ port, fit: fit(type, port.types) }))
    .filter((one) => one.fit)
    .sort((a, b) => rank(a.port, a.fit) - rank(b.port, b.fit))[0];
  return found ? { port: found.port.name, fit: found.fit } : null;
}

function bestOutput(targets: readonly PortType[], outputs: OutputPort[]): { port: string; fit: Fit } | null {
  const known = outputs.flatMap((port) => (port.type ? [{ port: port.name, fit: fit(port.type, targets) }] : []));
  return known.find((one) => one.fit === "exact") ?? known.find((one) => one.fit) ?? null;
}

/** The components that fit on a connection: one's best port for it. What fits as it is comes first. */
export function fitting(from: Pick<Connecting, "side" | "types">, templates: Template[]) {
  const found = templates.flatMap((template) => {
    const best = template.annotation ? null : bestPort(from, template);
    return best ? [{ template, port: best.port, fit: best.fit }] : [];
  });
  return found.sort((a, b) => Number(a.fit === "coerced") - Number(b.fit === "coerced"));
}

/** The components that can stand between the ends of an edge, with the ports that they would use. */
export function between(source: PortType, targets: readonly PortType[], templates: Template[]) {
  return fitting({ side: "output", types: [source] }, templates).flatMap(({ template, port }) => {
    const out = bestOutput(targets, portsOfType(template).outputs);
    return out ? [{ template, input: port, output: out.port }] : [];
  });
}
