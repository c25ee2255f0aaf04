import { useStoreApi, type Viewport } from "@xyflow/react";
import { useEffect, useMemo, useRef } from "react";
import { kindRole } from "@/components/icons";
import { useAppearance } from "@/lib/appearance/appearance";
import { type DraftState, useDraftParts } from "@/lib/draft";
import type { CanvasEdge } from "../model/flowEdges";
import type { CanvasNode } from "../model/flowNodes";
import { issuesOf, stateOf } from "../model/issues";
import { useCanvasTexts } from "../texts";
import { coloursNow, paint } from "./paint";
import { type Scene, sceneOf } from "./scene";

interface Props {
  nodes: readonly CanvasNode[];
  edges: readonly CanvasEdge[];
  /** Nodes that are being dragged: drawn apart with their edges, so that the others stay as they are drawn. */
  moving: ReadonlySet<string>;
}

/** How much more than can be seen is drawn on each side, so that moving about draws nothing. */
const MARGIN = 0.3;
const SETTLE_MS = 90;

/** The whole flow as one picture, for views so far out that nodes are boxes. */
export default function FarCanvas({ nodes, edges, moving }: Props) {
  const t = useCanvasTexts();
  const { still, live } = useScenes(nodes, edges, moving);
  const dark = useAppearance((state) => state.dark);
  return (
    <div
      role="img"
      aria-label={t("far_view", { count: nodes.length })}
      className="pointer-events-none absolute inset-0 overflow-hidden"
    >
      <Picture key={`still ${dark}`} scene={still} margin={MARGIN} />
      {live && <Picture key={`live ${dark}`} scene={live} margin={0} />}
    </div>
  );
}

function useScenes(nodes: Props["nodes"], edges: Props["edges"], moving: Props["moving"]) {
  const told = useDraftParts((state) => ({
    runs: state.nodeRuns,
    issues: state.issues,
    templates: state.templates,
    names: state.document.nodes,
  }));
  const words = useMemo(() => toldBy(told), [told]);
  const before = useRef<{ key: readonly unknown[]; scene: Scene } | null>(null);
  const isMoving = (edge: CanvasEdge) => moving.has(edge.source) || moving.has(edge.target);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  // While something is dragged the rest stays where it is: the scene of before is kept.
  const key = moving.size > 0 ? [edges, words, moving] : [edges, words, moving, nodes];
  const same =
    before.current?.key.length === key.length && before.current.key.every((one, index) => one === key[index]);
  if (!before.current || !same) {
    const rest = moving.size > 0 ? nodes.filter((node) => !moving.has(node.id)) : nodes;
    const wires = moving.size > 0 ? edges.filter((edge) => !isMoving(edge)) : edges;
    before.current = { key, scene: sceneOf(rest, byId, wires, words) };
  }
  const live =
    moving.size > 0
      ? sceneOf(
          nodes.filter((node) => moving.has(node.id)),
          byId,
          edges.filter(isMoving),
          words,
        )
      : null;
  return { still: before.current.scene, live };
}

function toldBy(state: {
  runs: DraftState["nodeRuns"];
  issues: DraftState["issues"];
  templates: DraftState["templates"];
  names: DraftState["document"]["nodes"];
}) {
  return {
    runs: state.runs,
    wrong: (id: string) => stateOf(issuesOf(state.issues, id)) === "wrong",
    roleOf: (id: string) => kindRole(state.templates[state.names[id]?.type ?? ""]?.category),
    nameOf: (id: string) => {
      const node = state.names[id];
      const title = node?.type === "Group" ? String(node.params?.title ?? "") : "";
      return title || node?.label || state.templates[node?.type ?? ""]?.label || node?.type || "";
    },
  };
}

/** Draws a scene once and moves the picture along; draws it anew when it no longer covers the view, and at rest. */
function Picture({ scene, margin }: { scene: Scene; margin: number }) {
  const api = useStoreApi();
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const ctx = element?.getContext("2d");
    if (!element || !ctx) return;
    const colours = coloursNow();
    const dpr = Math.min(devicePixelRatio || 1, 2);
    let drawn: Viewport & { width: number; height: number } = { x: 0, y: 0, zoom: 0, width: 0, height: 0 };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      const { transform, width, height } = api.getState();
      const [x, y, zoom] = transform;
      const [mx, my] = [Math.round(width * margin), Math.round(height * margin)];
      const [w, h] = [(width + 2 * mx) * dpr, (height + 2 * my) * dpr];
      if (element.width !== w || element.height !== h) Object.assign(element, { width: w, height: h });
      else {
        ctx.setTransform(1, 0, 0, 1, 0, 0);
        ctx.clearRect(0, 0, w, h);
      }
      Object.assign(element.style, {
        left: `${-mx}px`,
        top: `${-my}px`,
        width: `${w / dpr}px`,
        height: `${h / dpr}px`,
      });
      element.style.transform = "";
      paint(ctx, scene, { x: x + mx, y: y + my, zoom }, dpr, colours);
      drawn = { x, y, zoom, width, height };
    };
    const follow = () => {
      const { transform, width, height } = api.getState();
      const [x, y, zoom] = transform;
      const scale = zoom / drawn.zoom;
      const [mx, my] = [width * margin, height * margin];
      const [left, top] = [x - drawn.x * scale - mx * scale + mx, y - drawn.y * scale - my * scale + my];
      const covers =
        left - mx <= 0 &&
        top - my <= 0 &&
        left - mx + (width + 2 * mx) * scale >= width &&
        top - my + (height + 2 * my) * scale >= height;
      if (!covers || scale < 0.72 || scale > 1.6 || width !== drawn.width || height !== drawn.height) draw();
      else element.style.transform = `translate(${left}px, ${top}px) scale(${scale})`;
      clearTimeout(timer);
      timer = setTimeout(draw, SETTLE_MS);
    };
    draw();
    let { transform, width, height } = api.getState();
    const unsubscribe = api.subscribe((state) => {
      if (state.transform === transform && state.width === width && state.height === height) return;
      ({ transform, width, height } = state);
      follow();
    });
    return () => {
      clearTimeout(timer);
      unsubscribe();
    };
  }, [api, scene, margin]);
  return <canvas ref={canvas} className="absolute origin-top-left will-change-transform" />;
}
