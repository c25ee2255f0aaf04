import type { Edge } from "@xyflow/react";
import type { FlowEdge, Template } from "@/api/types";
import type { Document } from "@/lib/draft";
import { type EdgeKind, edgeKind, portsOf } from "@/lib/ports";
import { ERROR, takesErrorEdge } from "@/lib/wiring";
import type { Lane } from "./paths";

export type CanvasEdge = Edge<{ kind: EdgeKind | "error"; port: string; lane?: Lane }, "flow">;

/** Edges for drawing; one that nothing changed on is the very object that it was. */
export function createFlowEdges() {
  let made = new Map<FlowEdge, CanvasEdge>();
  let last: CanvasEdge[] = [];
  return (document: Document, templates: Record<string, Template>, selected: readonly string[]): CanvasEdge[] => {
    const chosen = new Set(selected);
    const next = new Map<FlowEdge, CanvasEdge>();
    const edges: CanvasEdge[] = [];
    for (const [id, source] of Object.entries(document.edges)) {
      const type = typeOf(document, templates, source);
      const isSelected = chosen.has(id);
      const before = made.get(source);
      const error = source.output === ERROR && takesErrorEdge(document.nodes[source.source]);
      const alike = before?.data?.port === (type ?? "") && (before.data.kind === "error") === error;
      const edge =
        before && before.selected === isSelected && alike ? before : make(id, source, type ?? "", isSelected, error);
      next.set(source, edge);
      edges.push(edge);
    }
    made = next;
    if (edges.length === last.length && edges.every((edge, index) => edge === last[index])) return last;
    last = edges;
    return edges;
  };
}

function typeOf(document: Document, templates: Record<string, Template>, edge: FlowEdge) {
  const node = document.nodes[edge.source];
  return node ? portsOf(node, templates[node.type]).outputs.find((port) => port.name === edge.output)?.type : null;
}

function make(id: string, edge: FlowEdge, port: string, selected: boolean, error: boolean): CanvasEdge {
  return {
    id,
    type: "flow",
    source: edge.source,
    sourceHandle: edge.output,
    target: edge.target,
    targetHandle: edge.input,
    data: { kind: error ? "error" : edgeKind((port || null) as Parameters<typeof edgeKind>[0]), port },
    selected,
    zIndex: selected ? 1 : 0,
  };
}
