import { type Node, type NodeHandle, Position } from "@xyflow/react";
import type { FlowNode, Template } from "@/api/types";
import type { Document } from "@/lib/draft";
import type { Rect } from "@/lib/layout";
import { type Card, cardOf, GRIP, type Used } from "./card";
import { createUsage } from "./usage";

export type CanvasNode = Node<{ card: Card }, "step" | "note" | "frame">;

/** A place or a size that a gesture gives a node before the draft has it. */
export type Overlay = Partial<Rect>;

interface Made {
  source: FlowNode;
  template: Template | undefined;
  used: Used;
  selected: boolean;
  overlay: Overlay | undefined;
  label: string;
  node: CanvasNode;
}

interface Input {
  document: Document;
  templates: Record<string, Template>;
  selected: readonly string[];
  overlay: Readonly<Record<string, Overlay>>;
}

/** Nodes for drawing; one that nothing changed on is the very object that it was, so that nothing is drawn again. */
export function createFlowNodes(): (input: Input) => CanvasNode[] {
  const usage = createUsage();
  let made = new Map<string, Made>();
  let last: CanvasNode[] = [];
  return ({ document, templates, selected, overlay }) => {
    const used = usage(document.edges);
    const chosen = new Set(selected);
    const next = new Map<string, Made>();
    const nodes: CanvasNode[] = [];
    for (const id of document.order) {
      const source = document.nodes[id];
      if (!source) continue;
      const now = {
        source,
        template: templates[source.type],
        used: used(id),
        selected: chosen.has(id),
        overlay: overlay[id],
      };
      const before = made.get(id);
      const one = before && unchanged(before, now) ? before : make(now, before);
      next.set(id, one);
      nodes.push(one.node);
    }
    made = next;
    if (nodes.length === last.length && nodes.every((node, index) => node === last[index])) return last;
    last = nodes;
    return nodes;
  };
}

type Now = Omit<Made, "node" | "label">;

const unchanged = (a: Made, b: Now) =>
  a.source === b.source &&
  a.template === b.template &&
  a.used === b.used &&
  a.selected === b.selected &&
  a.overlay === b.overlay;

function make(now: Now, before: Made | undefined): Made {
  const { source, template, overlay, selected } = now;
  const drawn =
    before && before.source === source && before.template === template && before.used === now.used ? before.node : null;
  const card = drawn ? drawn.data.card : cardOf(source, template, now.used);
  const { x, y, width, height } = { ...source.position, ...pick(card), ...overlay };
  const kind = template?.label ?? source.type;
  const label = source.label || kind;
  const node: CanvasNode = {
    id: source.id,
    type: card.kind,
    position: { x: x ?? 0, y: y ?? 0 },
    width,
    height,
    measured: { width, height },
    handles: drawn?.handles ?? handlesOf(card),
    data: drawn?.data ?? { card },
    selected,
    ariaLabel: label === kind ? label : `${label} (${kind})`,
    zIndex: card.kind === "frame" ? -1 : selected ? 1000 : 0,
    ...(card.kind === "frame" ? { dragHandle: ".group-grip" } : {}),
  };
  return { ...now, label, node };
}

const pick = ({ width, height }: Card) => ({ width, height });

function handlesOf(card: Card): NodeHandle[] {
  const at = (y: number) => ({ y: y - GRIP / 2, width: GRIP, height: GRIP });
  return [
    ...card.inputs.map((port) => ({
      id: port.name,
      type: "target" as const,
      position: Position.Left,
      x: -GRIP / 2,
      ...at(port.y),
    })),
    ...card.outputs.map((port) => ({
      id: port.name,
      type: "source" as const,
      position: Position.Right,
      x: card.width - GRIP / 2,
      ...at(port.y),
    })),
  ];
}

export function rectsOf(nodes: readonly CanvasNode[]): Record<string, Rect> {
  return Object.fromEntries(nodes.map((node) => [node.id, rectOf(node)]));
}

export const rectOf = (node: CanvasNode): Rect => ({
  ...node.position,
  width: node.width ?? 0,
  height: node.height ?? 0,
});
