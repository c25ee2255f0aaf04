import type { Flow, FlowEdge, FlowNode, PortType, Template } from "@/api/types";
import { nodeName, underName } from "@/lib/nodeName";
import { type Corner, corners } from "./arrange";
import { compactCorners } from "./compact";

export const BOX_WIDTH = 220;
export const BOX_HEIGHT = 64;
const NOTE_HEIGHT = 88;
const MARGIN = 24;
/** Of a group that says nothing of its size. */
const [FRAME_WIDTH, FRAME_HEIGHT] = [640, 360];
/** Canvas units to ours: boxes are smaller than nodes of the canvas, and so is the space between them. */
const ACROSS = 0.8;
const DOWN = 0.62;

export interface DrawnNode {
  id: string;
  title: string;
  /** What it is, in the words of its template. */
  kind: string;
  icon: string;
  category: string;
  /** The type of what it gives: its colour. */
  port: PortType | null;
  note: string | null;
  /** A group: a frame around others. */
  frame: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface DrawnEdge {
  id: string;
  source: string;
  target: string;
  port: PortType | null;
  /** `configures`: a model or a tool of a step. `gathers`: what a step takes of all steps before it. */
  kind: "data" | "configures" | "gathers";
  path: string;
}

export interface Drawing {
  nodes: DrawnNode[];
  edges: DrawnEdge[];
  width: number;
  height: number;
}

type Templates = Record<string, Template>;

/** Everything that the picture of a flow has, from its upper left corner. Works on any flow, also a faulty one. */
export function drawing(flow: Flow, templates: Templates = {}, compact = false): Drawing {
  const [places, close] = placesOf(flow, templates, compact);
  const found = (flow.nodes ?? [])
    .filter((node) => places.has(node.id))
    .map((node) => ({
      ...drawnNode(node, templates[node.type], places.get(node.id)),
      ...(close && places.get(node.id)),
    }));
  const left = Math.min(...found.map((node) => node.x), Number.POSITIVE_INFINITY);
  const top = Math.min(...found.map((node) => node.y), Number.POSITIVE_INFINITY);
  const nodes = found.map((node) => ({ ...node, x: node.x - left + MARGIN, y: node.y - top + MARGIN }));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const types = new Map((flow.nodes ?? []).map((node) => [node.id, node.type]));
  const portOf = (edge: FlowEdge) =>
    templates[types.get(edge.source) ?? ""]?.outputs?.find((output) => output.name === edge.output)?.type ??
    (edge.output === "tool" ? "Tool" : null);
  const edges = (flow.edges ?? []).flatMap((edge) => {
    const ends = [byId.get(edge.source), byId.get(edge.target)] as const;
    return ends[0] && ends[1] ? [drawnEdge(edge, ends[0], ends[1], portOf(edge), close)] : [];
  });
  edges.push(...gathered(flow, templates, edges, byId));
  return {
    nodes,
    edges,
    width: Math.max(...nodes.map((node) => node.x + node.width), BOX_WIDTH) + MARGIN,
    height: Math.max(...nodes.map((node) => node.y + node.height), BOX_HEIGHT) + MARGIN,
  };
}

/** Where nodes stand; small pictures leave notes out and put steps close, unless models or tools stand below them. */
function placesOf(flow: Flow, templates: Templates, compact: boolean): [Map<string, Corner>, boolean] {
  const nodes = flow.nodes ?? [];
  const types = new Map(nodes.map((node) => [node.id, node.type]));
  const helps = (edge: FlowEdge) =>
    templates[types.get(edge.source) ?? ""]?.outputs?.some(
      (output) => output.name === edge.output && (output.type === "Model" || output.type === "Tool"),
    ) || edge.output === "tool";
  const notes = nodes.filter((node) => templates[node.type]?.annotation || ["Group", "Note"].includes(node.type));
  const close =
    compact && !(flow.edges ?? []).some(helps) && compactCorners(flow, new Set(notes.map((node) => node.id)));
  return close ? [close, true] : [corners(flow), false];
}

function drawnNode(node: FlowNode, template: Template | undefined, at = { x: 0, y: 0 }): DrawnNode {
  const known = { [node.type]: template };
  const note = template?.annotation || node.type === "Group" || (!template && node.type === "Note");
  const frame = node.type === "Group";
  const text = frame ? node.params?.title : node.params?.text;
  return {
    id: node.id,
    title: nodeName(node, known),
    kind: underName(node, known),
    icon: template?.icon ?? "",
    category: template?.category ?? "",
    port: template?.outputs?.[0]?.type ?? null,
    note: note ? (typeof text === "string" ? text : "") : null,
    frame,
    x: at.x * ACROSS,
    y: at.y * DOWN,
    width: frame ? side(node.params?.width, FRAME_WIDTH) * ACROSS : BOX_WIDTH,
    height: frame ? side(node.params?.height, FRAME_HEIGHT) * DOWN : note ? NOTE_HEIGHT : BOX_HEIGHT,
  };
}

const side = (value: unknown, otherwise: number) => (typeof value === "number" && value > 0 ? value : otherwise);

function drawnEdge(
  edge: FlowEdge,
  source: DrawnNode,
  target: DrawnNode,
  port: PortType | null,
  close: boolean,
): DrawnEdge {
  const kind = port === "Model" || port === "Tool" ? "configures" : "data";
  const id = `${edge.source}.${edge.output}>${edge.target}.${edge.input}`;
  return {
    id,
    source: edge.source,
    target: edge.target,
    port,
    kind,
    path:
      kind !== "data"
        ? up(source, target)
        : close && target.x <= source.x
          ? back(source, target)
          : across(source, target),
  };
}

/** Steps that take what all steps before them gave have no edges for it: they are drawn as if they had. */
function gathered(flow: Flow, templates: Templates, edges: DrawnEdge[], byId: Map<string, DrawnNode>): DrawnEdge[] {
  const gathering = (flow.nodes ?? []).filter((node) => node.policy?.input_source === "all_previous_steps");
  if (gathering.length === 0) return [];
  const data = edges.filter((edge) => edge.kind === "data");
  const before = new Map<string, string[]>();
  for (const edge of data) before.set(edge.target, [...(before.get(edge.target) ?? []), edge.source]);
  return gathering.flatMap((node) => {
    const target = byId.get(node.id);
    const direct = new Set(before.get(node.id));
    return ancestors(node.id, before).flatMap((id) => {
      const source = byId.get(id);
      if (!target || !source || direct.has(id) || templates[node.type]?.annotation) return [];
      return [
        {
          id: `${id}>>${node.id}`,
          source: id,
          target: node.id,
          port: null,
          kind: "gathers" as const,
          path: across(source, target),
        },
      ];
    });
  });
}

function ancestors(start: string, before: Map<string, string[]>): string[] {
  const found = new Set<string>();
  const waiting = [start];
  while (waiting.length > 0) {
    for (const id of before.get(waiting.pop() as string) ?? []) {
      if (found.has(id) || id === start) continue;
      found.add(id);
      waiting.push(id);
    }
  }
  return [...found];
}

/** From the right side of one to the left side of the other, as a curve. */
function across(source: DrawnNode, target: DrawnNode): string {
  const [x1, y1] = [source.x + source.width, source.y + source.height / 2];
  const [x2, y2] = [target.x, target.y + target.height / 2];
  const bend = Math.max(28, Math.abs(x2 - x1) / 2);
  return `M${n(x1)} ${n(y1)}C${n(x1 + bend)} ${n(y1)} ${n(x2 - bend)} ${n(y2)} ${n(x2)} ${n(y2)}`;
}

/** From the end of a line to the beginning of the next one, between them. */
function back(source: DrawnNode, target: DrawnNode): string {
  const [x1, y1] = [source.x + source.width, source.y + source.height / 2];
  const [x2, y2] = [target.x, target.y + target.height / 2];
  const [between, out] = [target.y - 14, 16];
  const line = [`M${n(x1)} ${n(y1)}`, `Q${n(x1 + out)} ${n(y1)} ${n(x1 + out)} ${n(y1 + out)}`];
  line.push(`V${n(between - 12)}Q${n(x1 + out)} ${n(between)} ${n(x1)} ${n(between)}H${n(x2)}`);
  return `${line.join("")}Q${n(x2 - out)} ${n(between)} ${n(x2 - out)} ${n(between + 12)}V${n(y2 - 8)}Q${n(x2 - out)} ${n(y2)} ${n(x2)} ${n(y2)}`;
}

/** From the top of a model or tool to the bottom of the step above it; across where it is not above. */
function up(source: DrawnNode, target: DrawnNode): string {
  if (target.y + target.height > source.y) return across(source, target);
  const [x1, y1] = [source.x + source.width / 2, source.y];
  const [x2, y2] = [target.x + target.width / 2, target.y + target.height];
  const bend = Math.max(12, (y1 - y2) / 2);
  return `M${n(x1)} ${n(y1)}C${n(x1)} ${n(y1 - bend)} ${n(x2)} ${n(y2 + bend)} ${n(x2)} ${n(y2)}`;
}

const n = (value: number) => String(Math.round(value * 10) / 10);

/** The node that an arrow key leads to: the nearest in that direction, straight ahead rather than aside. */
export function neighbour(nodes: DrawnNode[], from: string, key: string): string | null {
  const here = nodes.find((node) => node.id === from);
  const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
  if (!here || !way) return null;
  const [dx, dy] = way as [number, number];
  let best: { id: string; far: number } | null = null;
  for (const node of nodes) {
    const [x, y] = [node.x - here.x, node.y - here.y];
    const ahead = x * dx + y * dy;
    const aside = Math.abs(x * dy + y * dx);
    if (node.id === from || ahead <= 1) continue;
    const far = ahead + aside * 2;
    if (!best || far < best.far) best = { id: node.id, far };
  }
  return best?.id ?? null;
}

/** A text in at most `cells` columns, wide characters counted twice, with an ellipsis where something was cut. */
export function cut(text: string, cells: number): string {
  let used = 0;
  let kept = "";
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  for (const char of line) {
    used += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u.test(
      char,
    )
      ? 2
      : 1;
    if (used > cells) return `${kept.trimEnd()}…`;
    kept += char;
  }
  return kept;
}
