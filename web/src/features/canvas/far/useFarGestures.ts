import { type PointerEvent, useMemo, useState } from "react";
import type { Rect } from "@/lib/layout";
import { withMembers } from "../actions/places";
import { focusNode } from "../actions/walking";
import type { Overlay } from "../model/flowNodes";
import { motion, type Stage } from "../model/stage";
import { useView } from "../model/view";
import { nodeAt, nodesIn } from "./hits";

const NEARER = 0.7;

/** Selecting and dragging boxes of the far view, which are drawn and no elements. */
export function useFarGestures(stage: Stage, put: (overlay: Readonly<Record<string, Overlay>>) => void) {
  const [box, setBox] = useState<Rect | null>(null);
  const handlers = useMemo(() => {
    const toFlow = (event: { clientX: number; clientY: number }) =>
      stage.flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const begin = (event: PointerEvent) => {
      if (!useView.getState().far || event.button !== 0 || !onPane(event.target)) return;
      const from = toFlow(event);
      const hit = nodeAt(stage.drawn.nodes, from.x, from.y, stage.flow.getZoom());
      const adds = event.shiftKey || event.metaKey || event.ctrlKey;
      if (!hit && !event.shiftKey) return;
      event.stopPropagation();
      const mouse = event.nativeEvent;
      if (hit) drag(stage, hit.id, adds, mouse, put);
      else boxSelect(stage, mouse, setBox);
    };
    return {
      onPointerDownCapture: begin,
      // The drawing pans on the mouse event that follows the pointer's.
      onMouseDownCapture: (event: React.MouseEvent) => {
        if (!useView.getState().far || event.button !== 0 || !onPane(event.target)) return;
        const at = toFlow(event);
        if (event.shiftKey || nodeAt(stage.drawn.nodes, at.x, at.y, stage.flow.getZoom())) event.stopPropagation();
      },
      onClickCapture: (event: React.MouseEvent) => {
        if (!useView.getState().far || !onPane(event.target)) return;
        const at = toFlow(event);
        if (event.shiftKey || nodeAt(stage.drawn.nodes, at.x, at.y, stage.flow.getZoom())) event.stopPropagation();
      },
      onDoubleClick: (event: React.MouseEvent) => {
        if (!useView.getState().far || !onPane(event.target)) return;
        const at = toFlow(event);
        const hit = nodeAt(stage.drawn.nodes, at.x, at.y, stage.flow.getZoom());
        if (hit) focusNode(stage, hit.id);
        else void stage.flow.setCenter(at.x, at.y, { zoom: NEARER, ...motion() });
      },
    };
  }, [stage, put]);
  return { handlers, box };
}

const onPane = (target: EventTarget | null) =>
  target instanceof Element && target.closest(".react-flow__pane") !== null;

type Put = (overlay: Readonly<Record<string, Overlay>>) => void;

function drag(stage: Stage, id: string, adds: boolean, from: MouseEvent, put: Put): void {
  const state = stage.store.getState();
  const chosen = state.selectedNodes.includes(id);
  if (adds) state.select(chosen ? state.selectedNodes.filter((one) => one !== id) : [...state.selectedNodes, id]);
  else if (!chosen) state.select([id]);
  if (!state.editable || useView.getState().locked || adds) return;
  const ids = withMembers(stage, chosen ? state.selectedNodes : [id]);
  const start = new Map(
    stage.drawn.nodes.filter((node) => ids.includes(node.id)).map((node) => [node.id, node.position]),
  );
  const zoom = stage.flow.getZoom();
  let moved: Record<string, { x: number; y: number }> = {};
  track(
    (event) => {
      const [dx, dy] = [(event.clientX - from.clientX) / zoom, (event.clientY - from.clientY) / zoom];
      if (Object.keys(moved).length === 0 && Math.hypot(dx, dy) * zoom < 3) return;
      moved = Object.fromEntries([...start].map(([one, { x, y }]) => [one, { x: x + dx, y: y + dy }]));
      put(moved);
    },
    () => {
      if (Object.keys(moved).length > 0) stage.store.getState().moveNodes(moved);
      put({});
    },
  );
}

function boxSelect(stage: Stage, from: MouseEvent, show: (box: Rect | null) => void): void {
  let screen: Rect = { x: from.clientX, y: from.clientY, width: 0, height: 0 };
  track(
    (event) => {
      const [x, y] = [Math.min(from.clientX, event.clientX), Math.min(from.clientY, event.clientY)];
      screen = { x, y, width: Math.abs(event.clientX - from.clientX), height: Math.abs(event.clientY - from.clientY) };
      show(screen);
    },
    () => {
      const corner = stage.flow.screenToFlowPosition(screen);
      const zoom = stage.flow.getZoom();
      const box = { ...corner, width: screen.width / zoom, height: screen.height / zoom };
      stage.store.getState().select(nodesIn(stage.drawn.nodes, box));
      show(null);
    },
  );
}

/** Follow the pointer until it is let go of, at most once a frame. */
function track(move: (event: globalThis.PointerEvent) => void, end: () => void): void {
  let latest: globalThis.PointerEvent | null = null;
  let frame = 0;
  const onMove = (event: globalThis.PointerEvent) => {
    latest = event;
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      if (latest) move(latest);
    });
  };
  const onEnd = (event: globalThis.PointerEvent) => {
    cancelAnimationFrame(frame);
    removeEventListener("pointermove", onMove);
    removeEventListener("pointerup", onEnd);
    removeEventListener("pointercancel", onEnd);
    if (latest) move(event);
    end();
  };
  addEventListener("pointermove", onMove);
  addEventListener("pointerup", onEnd);
  addEventListener("pointercancel", onEnd);
}
