import type { FlowEdge } from "@/api/types";
import type { CanvasNode } from "./flowNodes";

interface Spot {
  x: number;
  y: number;
}

/** A curve from one port to another: level where it leaves and where it arrives, further out when it goes back. */
export function curve(from: Spot, to: Spot): string {
  const reach = reachOf(from, to);
  return `M${r(from.x)} ${r(from.y)}C${r(from.x + reach)} ${r(from.y)} ${r(to.x - reach)} ${r(to.y)} ${r(to.x)} ${r(to.y)}`;
}

/** The middle of that curve. */
export const middleOf = (from: Spot, to: Spot): Spot => ({ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 });

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
