import type { Rect } from "@/lib/layout";
import type { CanvasEdge } from "./flowEdges";
import { type CanvasNode, rectOf } from "./flowNodes";
import { endsOf, type Lane, pointOn, type Spot } from "./paths";

/** Free space between a lane and the nodes that it passes. */
const GAP = 18;
/** Shorter edges have no node between their ends. */
const SHORTEST = 240;
const SAMPLES = 24;

/**
 * The lane of an edge that would pass behind nodes: the height nearest to it at which it passes above, below or between
 * them. Null where its curve meets none.
 */
export function laneOf(from: Spot, to: Spot, obstacles: readonly Rect[]): Lane | null {
  if (to.x - from.x < SHORTEST) return null;
  const between = obstacles.filter((one) => one.x + one.width > from.x && one.x < to.x);
  const met = between.filter((rect) => crosses(from, to, rect));
  if (met.length === 0) return null;
  const start = Math.max(from.x + GAP, Math.min(...met.map((one) => one.x)) - GAP);
  const end = Math.min(to.x - GAP, Math.max(...met.map((one) => one.x + one.width)) + GAP);
  if (end <= start) return null;
  const neighbours = between.filter((one) => one.x < end && one.x + one.width > start);
  const middle = (from.y + to.y) / 2;
  const heights = neighbours.flatMap((one) => [one.y - GAP, one.y + one.height + GAP]);
  const free = heights.filter((y) => neighbours.every((one) => y <= one.y - GAP || y >= one.y + one.height + GAP));
  if (free.length === 0) return null;
  const y = free.reduce((best, one) => (Math.abs(one - middle) < Math.abs(best - middle) ? one : best));
  return { y, from: start, to: end };
}

function crosses(from: Spot, to: Spot, rect: Rect): boolean {
  for (let step = 1; step < SAMPLES; step += 1) {
    const { x, y } = pointOn(from, to, step / SAMPLES);
    if (x > rect.x && x < rect.x + rect.width && y > rect.y + 2 && y < rect.y + rect.height - 2) return true;
  }
  return false;
}

/** Gives edges their lanes; an edge whose lane did not change is the very object that it was. */
export function createLanes(): (edges: CanvasEdge[], nodes: CanvasNode[], still: boolean) => CanvasEdge[] {
  let before: { edges: CanvasEdge[]; nodes: CanvasNode[]; drawn: CanvasEdge[] } | null = null;
  let lanes = new Map<string, Lane | null>();
  let made = new Map<CanvasEdge, CanvasEdge>();
  return (edges, nodes, still) => {
    if (before && before.edges === edges && (before.nodes === nodes || !still)) return before.drawn;
    if (still) lanes = lanesOf(edges, nodes);
    const next = new Map<CanvasEdge, CanvasEdge>();
    const drawn = edges.map((edge) => {
      const lane = lanes.get(edge.id) ?? null;
      const last = made.get(edge);
      const one = last && same(last.data?.lane ?? null, lane) ? last : withLane(edge, lane);
      next.set(edge, one);
      return one;
    });
    made = next;
    before = { edges, nodes, drawn };
    return drawn;
  };
}

function lanesOf(edges: readonly CanvasEdge[], nodes: readonly CanvasNode[]): Map<string, Lane | null> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const solid = nodes
    .filter((node) => node.data.card.kind === "step")
    .map((node) => ({ id: node.id, ...rectOf(node) }));
  const lanes = new Map<string, Lane | null>();
  for (const edge of edges) {
    const { source, target, sourceHandle: output, targetHandle: input } = edge;
    const ends = endsOf({ source, target, output: output ?? "", input: input ?? "" }, byId);
    if (!ends || ends[1].x - ends[0].x < SHORTEST) continue;
    lanes.set(
      edge.id,
      laneOf(
        ...ends,
        solid.filter((one) => one.id !== source && one.id !== target),
      ),
    );
  }
  return lanes;
}

const same = (a: Lane | null, b: Lane | null) => a === b || (a?.y === b?.y && a?.from === b?.from && a?.to === b?.to);

const withLane = (edge: CanvasEdge, lane: Lane | null): CanvasEdge =>
  edge.data && lane ? { ...edge, data: { ...edge.data, lane } } : edge;
