import type { FlowEdge } from "@/api/types";
import type { CanvasNode } from "./flowNodes";

export interface Spot {
  x: number;
  y: number;
}

/** A curve from one port to another: level where it leaves and where it arrives, further out when it goes back. */
export function curve(from: Spot, to: Spot): string {
  const reach = reachOf(from, to);
  return `M${r(from.x)} ${r(from.y)}C${r(from.x + reach)} ${r(from.y)} ${r(to.x - reach)} ${r(to.y)} ${r(to.x)} ${r(to.y)}`;
}

/** Where an edge passes nodes instead of behind them: level at this height from one place to another. */
export interface Lane {
  y: number;
  from: number;
  to: number;
}

/** The curve through a lane; without one, the direct curve. */
export function route(from: Spot, to: Spot, lane: Lane | null | undefined): string {
  if (!lane) return curve(from, to);
  const [near, far] = [
    { x: lane.from, y: lane.y },
    { x: lane.to, y: lane.y },
  ];
  return `${bend(from, near)}L${r(far.x)} ${r(far.y)}${bend(far, to).replace(/^M[^C]+/, "")}`;
}

/** A curve that is level at both ends and as wide as there is room. */
function bend(from: Spot, to: Spot): string {
  const half = (to.x - from.x) / 2;
  return `M${r(from.x)} ${r(from.y)}C${r(from.x + half)} ${r(from.y)} ${r(to.x - half)} ${r(to.y)} ${r(to.x)} ${r(to.y)}`;
}

/** The middle of an edge. */
export const middleOf = (from: Spot, to: Spot, lane?: Lane | null): Spot =>
  lane ? { x: (lane.from + lane.to) / 2, y: lane.y } : { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };

/** A point of the direct curve, at 0 its beginning and at 1 its end. */
export function pointOn(from: Spot, to: Spot, at: number): Spot {
  const reach = reachOf(from, to);
  const [a, b, c, d] = [(1 - at) ** 3, 3 * at * (1 - at) ** 2, 3 * at ** 2 * (1 - at), at ** 3];
  return {
    x: a * from.x + b * (from.x + reach) + c * (to.x - reach) + d * to.x,
    y: (a + b) * from.y + (c + d) * to.y,
  };
}

function reachOf(from: Spot, to: Spot): number {
  const across = to.x - from.x;
  return across >= 0 ? Math.max(24, across / 2) : Math.min(220, 60 + Math.abs(across) * 0.35);
}

const r = (value: number) => Math.round(value * 10) / 10;

/** Where an edge leaves and arrives; null while one of its ends is not there. */
export function endsOf(edge: FlowEdge, nodes: ReadonlyMap<string, CanvasNode>): [Spot, Spot] | null {
  const [source, target] = [nodes.get(edge.source), nodes.get(edge.target)];
  if (!source || !target) return null;
  const out = source.data.card.outputs.find((port) => port.name === edge.output);
  const into = target.data.card.inputs.find((port) => port.name === edge.input);
  if (!out || !into) return null;
  return [
    { x: source.position.x + (source.width ?? 0), y: source.position.y + out.y },
    { x: target.position.x, y: target.position.y + into.y },
  ];
}
