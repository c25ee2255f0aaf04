import type { NodeRun } from "@/lib/draft";
import type { EdgeKind } from "@/lib/ports";
import type { CanvasEdge } from "../model/flowEdges";
import type { CanvasNode } from "../model/flowNodes";
import { endsOf } from "../model/paths";

/** How a box is filled: what a run did with it, or that something is wrong. */
export type Look = "plain" | "running" | "completed" | "failed" | "skipped" | "wrong" | "note";

/** What is drawn at once: paths in the flow's own units, made when the flow changes and kept while one moves about. */
export interface Scene {
  wires: Record<EdgeKind, Path2D>;
  boxes: Map<Look, Path2D>;
  frames: Path2D;
  chosen: Path2D;
  /** A bar at the left of each box, by the colour role of its category. */
  bars: Map<string, Path2D>;
  names: { x: number; y: number; width: number; text: string }[];
}

/** In canvas units: still two pixels at a zoom of 0.15. */
const BAR_WIDTH = 14;

interface Told {
  runs: Readonly<Record<string, NodeRun>>;
  wrong: (id: string) => boolean;
  nameOf: (id: string) => string;
  roleOf: (id: string) => string;
}

export function sceneOf(
  nodes: readonly CanvasNode[],
  byId: ReadonlyMap<string, CanvasNode>,
  edges: readonly CanvasEdge[],
  told: Told,
): Scene {
  const scene: Scene = {
    wires: { data: new Path2D(), model: new Path2D(), tool: new Path2D() },
    boxes: new Map(),
    frames: new Path2D(),
    chosen: new Path2D(),
    bars: new Map(),
    names: [],
  };
  for (const edge of edges) addWire(scene, edge, byId);
  for (const node of nodes) addBox(scene, node, told);
  return scene;
}

function addWire(scene: Scene, edge: CanvasEdge, byId: ReadonlyMap<string, CanvasNode>): void {
  const flow = {
    source: edge.source,
    output: edge.sourceHandle ?? "",
    target: edge.target,
    input: edge.targetHandle ?? "",
  };
  const ends = endsOf(flow, byId);
  if (!ends) return;
  const [from, to] = ends;
  const reach = Math.max(24, Math.abs(to.x - from.x) / 2);
  const kind = edge.data?.kind ?? "data";
  const path = scene.wires[kind === "error" ? "data" : kind];
  path.moveTo(from.x, from.y);
  path.bezierCurveTo(from.x + reach, from.y, to.x - reach, to.y, to.x, to.y);
}

function addBox(scene: Scene, node: CanvasNode, told: Told): void {
  const { x, y } = node.position;
  const [width, height] = [node.width ?? 0, node.height ?? 0];
  if (node.type === "frame") scene.frames.rect(x, y, width, height);
  else {
    const look = lookOf(node, told);
    const path = scene.boxes.get(look) ?? new Path2D();
    path.rect(x, y, width, height);
    scene.boxes.set(look, path);
    const role = told.roleOf(node.id);
    const bar = scene.bars.get(role) ?? new Path2D();
    bar.rect(x, y, BAR_WIDTH, height);
    scene.bars.set(role, bar);
  }
  if (node.selected) scene.chosen.rect(x, y, width, height);
  scene.names.push({
    x: x + BAR_WIDTH + 12,
    y: node.type === "frame" ? y + 30 : y + height / 2,
    width: width - BAR_WIDTH - 20,
    text: told.nameOf(node.id),
  });
}

function lookOf(node: CanvasNode, told: Told): Look {
  if (node.type === "note") return "note";
  const status = told.runs[node.id]?.status;
  if (status === "running" || status === "completed" || status === "failed" || status === "skipped") return status;
  return told.wrong(node.id) ? "wrong" : "plain";
}
