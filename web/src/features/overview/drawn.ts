import type { Edge, Node } from "@xyflow/react";
import type { GraphEdge, GraphNode, GraphOut } from "@/api/queries/overview";
import type { Template } from "@/api/types";

interface Drawn extends Record<string, unknown> {
  node: GraphNode;
  template: Template | undefined;
  /** Text of a note, title of a group. */
  words: string;
}
export type DrawnNode = Node<Drawn, "step" | "note" | "frame">;

type Params = Record<string, Record<string, unknown> | undefined>;

/** What React Flow draws; nothing of it can be changed. Groups stand behind the rest. */
export function drawnNodes(graph: GraphOut, templates: Record<string, Template>, params: Params): DrawnNode[] {
  return graph.nodes.map((node) => drawnNode(node, templates[node.type], params[node.id] ?? {}));
}

function drawnNode(node: GraphNode, template: Template | undefined, own: Record<string, unknown>): DrawnNode {
  const frame = node.type === "Group";
  const words = own[frame ? "title" : "text"];
  const position = { x: node.position.x ?? 0, y: node.position.y ?? 0 };
  const data = { node, template, words: typeof words === "string" ? words : "" };
  if (frame) {
    const size = { width: side(own.width, 640), height: side(own.height, 360) };
    return { id: node.id, type: "frame", position, data, zIndex: -1, ...size };
  }
  // What the small map needs to know before anything is measured.
  const initial = { initialWidth: 256, initialHeight: node.run ? 112 : 88 };
  return { id: node.id, type: node.kind === "note" ? "note" : "step", position, data, ...initial };
}

const side = (value: unknown, otherwise: number) => (typeof value === "number" && value > 0 ? value : otherwise);

const STROKES: Record<GraphEdge["kind"], string> = {
  data: "var(--faint)",
  model: "var(--port-model)",
  tool: "var(--port-tool)",
  all_previous_steps: "var(--accent)",
};

/** Edges by what they carry: solid for data, dots for models and tools, dashes where a step reads all steps before it. */
export function drawnEdges(graph: GraphOut): Edge[] {
  return graph.edges.map((edge) => ({
    id: edge.id,
    source: edge.source,
    target: edge.target,
    selectable: false,
    focusable: false,
    style: { stroke: STROKES[edge.kind], strokeDasharray: dashesOf(edge), opacity: edge.taken === false ? 0.3 : 1 },
    ariaLabel: edge.id,
  }));
}

/** Lengths of dashes and gaps, as SVG reads them. */
function dashesOf(edge: GraphEdge): string {
  if (edge.line === "dashed") return "8 6";
  return edge.kind === "data" ? "none" : "2 5";
}

/** Steps as a list: in the order in which they run, then what is no step; notes are left to the picture. */
export function listed(graph: GraphOut): GraphNode[] {
  const place = (node: GraphNode) => node.order ?? Number.MAX_SAFE_INTEGER;
  return graph.nodes.filter((node) => node.kind !== "note").sort((one, other) => place(one) - place(other));
}

export const tokensOf = (node: GraphNode) => (node.run?.tokens_input ?? 0) + (node.run?.tokens_output ?? 0);
