import type { Document } from "@/lib/draft";
import type { Rect } from "./rects";

type Points = Record<string, { x: number; y: number }>;

const COLUMN_GAP = 72;
const ROW_GAP = 44;
const FRAME = { padding: 32, title: 28 };

/**
 * Where nodes stand when they are put in order, from left to right: only `ids` when some are named, around the place
 * where they are now. Frames are drawn around what they held. The layout itself is loaded when it is first asked for.
 */
export async function arrange(
  document: Document,
  rects: Record<string, Rect>,
  frames: Record<string, string[]>,
  ids: string[] = document.order,
): Promise<{ positions: Points; frames: Record<string, Rect> }> {
  const moved = ids.filter((id) => !(id in frames) && id in document.nodes);
  const positions = moved.length > 1 ? await layered(document, rects, moved) : {};
  const at = (id: string): Rect | undefined => {
    const rect = rects[id];
    const position = positions[id];
    return rect && position ? { ...rect, ...position } : rect;
  };
  const drawn: Record<string, Rect> = {};
  for (const [id, members] of Object.entries(frames)) {
    const inside = members.flatMap((member) => at(member) ?? []);
    if (inside.length > 0 && members.some((member) => member in positions)) drawn[id] = around(inside);
  }
  return { positions, frames: drawn };
}

/** The frame around these rectangles, with room for its title. */
export function around(inside: Rect[]): Rect {
  const left = Math.min(...inside.map((one) => one.x));
  const top = Math.min(...inside.map((one) => one.y));
  const right = Math.max(...inside.map((one) => one.x + one.width));
  const bottom = Math.max(...inside.map((one) => one.y + one.height));
  return {
    x: left - FRAME.padding,
    y: top - FRAME.padding - FRAME.title,
    width: right - left + 2 * FRAME.padding,
    height: bottom - top + 2 * FRAME.padding + FRAME.title,
  };
}

async function layered(document: Document, rects: Record<string, Rect>, ids: string[]): Promise<Points> {
  const { default: dagre } = await import("@dagrejs/dagre");
  const graph = new dagre.graphlib.Graph();
  // The exact ranking takes seconds on a thousand nodes, the other one a moment.
  graph.setGraph({
    rankdir: "LR",
    nodesep: ROW_GAP,
    ranksep: COLUMN_GAP,
    ranker: ids.length > 200 ? "longest-path" : "network-simplex",
  });
  graph.setDefaultEdgeLabel(() => ({}));
  const members = new Set(ids);
  for (const id of ids) {
    const rect = rects[id];
    if (rect) graph.setNode(id, { width: rect.width, height: rect.height });
  }
  for (const edge of Object.values(document.edges)) {
    if (members.has(edge.source) && members.has(edge.target)) graph.setEdge(edge.source, edge.target);
  }
  dagre.layout(graph);
  return placed(graph as unknown as Drawn, rects, ids);
}

interface Drawn {
  node: (id: string) => { x: number; y: number } | undefined;
}

/** Corners from the middles that the layout gives, so that the upper left of all stays where it was. */
function placed(graph: Drawn, rects: Record<string, Rect>, ids: string[]): Points {
  const known = ids.flatMap((id) => {
    const rect = rects[id];
    const middle = graph.node(id);
    return rect && middle ? [{ id, rect, x: middle.x - rect.width / 2, y: middle.y - rect.height / 2 }] : [];
  });
  const dx = Math.min(...known.map((one) => one.rect.x)) - Math.min(...known.map((one) => one.x));
  const dy = Math.min(...known.map((one) => one.rect.y)) - Math.min(...known.map((one) => one.y));
  return Object.fromEntries(known.map((one) => [one.id, { x: Math.round(one.x + dx), y: Math.round(one.y + dy) }]));
}
