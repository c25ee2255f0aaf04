import { type ReactFlowInstance, useReactFlow, type Viewport } from "@xyflow/react";
import { createContext, useContext, useMemo } from "react";
import { type DraftStore, useDraftStore } from "@/lib/draft";
import { boundsOf, type Rect } from "@/lib/layout";
import { usePanels } from "@/lib/panels";
import { useCanvasTexts } from "../texts";
import type { CanvasEdge } from "./flowEdges";
import { type CanvasNode, rectOf, rectsOf } from "./flowNodes";

/** What an action needs: the draft, the drawing, and words to tell of it. */
export interface Stage {
  store: DraftStore;
  flow: ReactFlowInstance<CanvasNode, CanvasEdge>;
  t: ReturnType<typeof useCanvasTexts>;
  /** What is drawn now, near or far: nodes, and the frames with the steps of flows that they run. */
  drawn: { nodes: readonly CanvasNode[]; regions: readonly Rect[]; start?: (() => Rect | null) | undefined };
}

/** One canvas's own list of what is drawn. */
export const Drawn = createContext<Stage["drawn"]>({ nodes: [], regions: [] });

export function useStage(): Stage {
  const store = useDraftStore();
  const flow = useReactFlow<CanvasNode, CanvasEdge>();
  const t = useCanvasTexts();
  const drawn = useContext(Drawn);
  return useMemo(() => ({ store, flow, t, drawn }), [store, flow, t, drawn]);
}

export const rects = (stage: Stage): Record<string, Rect> => rectsOf(stage.drawn.nodes);

export function selectedRects(stage: Stage): Record<string, Rect> {
  const chosen = new Set(stage.store.getState().selectedNodes);
  return rectsOf(stage.drawn.nodes.filter((node) => chosen.has(node.id)));
}

/** The middle of what can be seen, in the flow's own units. */
export function middle(stage: Stage): { x: number; y: number } {
  const box = document.querySelector(".react-flow")?.getBoundingClientRect();
  if (!box) return { x: 0, y: 0 };
  return stage.flow.screenToFlowPosition({ x: box.x + box.width / 2, y: box.y + box.height / 2 });
}

const MOTION_MS = 220;
const LEAST_SIGHT = 320;

export function motion(): { duration: number } {
  const still =
    document.documentElement.dataset.motion === "reduced" || matchMedia("(prefers-reduced-motion: reduce)").matches;
  return { duration: still ? 0 : MOTION_MS };
}

/** The part of the canvas that can be seen: what floats over its right side covers it. */
export function sight(): { width: number; height: number } | null {
  const box = document.querySelector(".react-flow")?.getBoundingClientRect();
  if (!box || box.width === 0) return null;
  const { floatsFrom, sheet } = usePanels.getState();
  const free = Math.min(floatsFrom ?? box.right, box.right) - box.x;
  return { width: free > LEAST_SIGHT ? free : box.width, height: box.height * (1 - sheet) };
}

export const within = (rect: Rect, { x, y, zoom }: Viewport, box: { width: number; height: number }) =>
  rect.x * zoom + x > 0 &&
  rect.y * zoom + y > 0 &&
  (rect.x + rect.width) * zoom + x < box.width &&
  (rect.y + rect.height) * zoom + y < box.height;

/** Whether every node is in view in a canvas of this size. */
export function showsAll(stage: Stage, viewport: Viewport, size: { width: number; height: number }): boolean {
  const bounds = boundsOf(stage.drawn.nodes.map(rectOf));
  return bounds !== null && within(bounds, viewport, size);
}

/** Show what came to the flow, unless it can be seen already. */
export function showNew(stage: Stage, ids: ReadonlySet<string>): void {
  const came = stage.drawn.nodes.filter((node) => ids.has(node.id));
  const bounds = boundsOf(came.map(rectOf));
  const box = sight();
  if (!bounds || !box) return;
  const viewport = stage.flow.getViewport();
  if (within(bounds, viewport, box) && viewport.zoom > 0.5) return;
  show(stage, came.length === stage.drawn.nodes.length ? undefined : [...ids]);
}

/** Bring nodes into sight; a few stay readable, all of them are shown whole. */
export function show(stage: Stage, ids?: readonly string[], animated = true): void {
  const chosen = ids ? new Set(ids) : null;
  const rects = stage.drawn.nodes.filter((node) => !chosen || chosen.has(node.id)).map(rectOf);
  const start = stage.drawn.start?.() ?? [];
  const bounds = boundsOf(chosen ? rects : [...rects, ...stage.drawn.regions].concat(start));
  if (!bounds) return;
  const box = sight();
  if (!box) return;
  const viewport = around(bounds, box, chosen ? 160 : 40, chosen ? 1 : 1.1);
  void stage.flow.setViewport(viewport, animated ? motion() : { duration: 0 });
}

/** The view that shows a rectangle whole in the middle of a window. */
export function around(bounds: Rect, size: { width: number; height: number }, margin: number, most: number): Viewport {
  const fitting = Math.min(size.width / (bounds.width + 2 * margin), size.height / (bounds.height + 2 * margin), most);
  const zoom = Math.max(fitting, 0.05);
  return {
    zoom,
    x: size.width / 2 - (bounds.x + bounds.width / 2) * zoom,
    y: size.height / 2 - (bounds.y + bounds.height / 2) * zoom,
  };
}

/** Bring one node into sight without changing how large things are, unless it could not be read. */
export function reveal(stage: Stage, id: string, readable = 0.5): void {
  const node = stage.drawn.nodes.find((one) => one.id === id);
  const box = sight();
  if (!node || !box) return;
  const rect = rectOf(node);
  const viewport = stage.flow.getViewport();
  const { zoom } = viewport;
  if (within(rect, viewport, box) && zoom > readable) return;
  const near = zoom > readable ? zoom : 0.8;
  const x = box.width / 2 - (rect.x + rect.width / 2) * near;
  const y = box.height / 2 - (rect.y + rect.height / 2) * near;
  void stage.flow.setViewport({ x, y, zoom: near }, motion());
}
