import type { Flow, FlowEdge, FlowNode, FlowSettings, FormField } from "@/api/types";

/** A flow as the studio edits it: nodes and edges by id, so that a change to one touches nothing else. */
export interface Document {
  name: string;
  description: string;
  nodes: Record<string, FlowNode>;
  /** Ids of nodes in the flow's own order. */
  order: string[];
  edges: Record<string, FlowEdge>;
  form: FormField[];
  settings: FlowSettings;
}

export function edgeId(edge: FlowEdge): string {
  return `${edge.source}.${edge.output}>${edge.target}.${edge.input}`;
}

export function toDocument(flow: Flow): Document {
  const nodes = flow.nodes ?? [];
  return {
    name: flow.name ?? "",
    description: flow.description ?? "",
    nodes: Object.fromEntries(nodes.map((node) => [node.id, node])),
    order: nodes.map((node) => node.id),
    edges: Object.fromEntries((flow.edges ?? []).map((edge) => [edgeId(edge), edge])),
    form: flow.form ?? [],
    settings: flow.settings ?? { widget: {}, icon: "" },
  };
}

export function toFlow(document: Document): Flow {
  return {
    name: document.name,
    description: document.description,
    nodes: document.order.flatMap((id) => document.nodes[id] ?? []),
    edges: Object.values(document.edges),
    form: document.form,
    settings: document.settings,
  };
}

const LONGEST_ID = 64;

/** An id that no node has yet, from a type or a label: `Read CSV` becomes `read_csv`, then `read_csv_2`. */
export function freeId(wanted: string, taken: Record<string, unknown>): string {
  const words = wanted
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[^a-z]+|_+$/g, "");
  const stem = (words || "node").slice(0, LONGEST_ID - 5);
  if (!(stem in taken)) return stem;
  for (let count = 2; ; count += 1) {
    const id = `${stem}_${count}`;
    if (!(id in taken)) return id;
  }
}
