import { ViewportPortal } from "@xyflow/react";
import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { useDraft } from "@/lib/draft";
import type { CanvasNode } from "../model/flowNodes";
import type { Stage } from "../model/stage";
import { START_GAP, START_WIDTH, startOf } from "./place";

/** What starts the flow, above its first step, with a line to it. */
export function Start(props: { stage: Stage; nodes: readonly CanvasNode[]; children: ReactNode }) {
  const { stage, nodes, children } = props;
  const first = useDraft((state) => state.document.order[0]);
  const place = useMemo(() => startOf(nodes, first), [nodes, first]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    stage.drawn.start = () => {
      const height = box.current?.offsetHeight ?? 0;
      return place && height > 0 ? { x: place.x, y: place.bottom - height, width: START_WIDTH, height } : null;
    };
    return () => {
      stage.drawn.start = undefined;
    };
  }, [stage, place]);
  if (!place) return null;
  return (
    <ViewportPortal>
      <div
        ref={box}
        className="nopan nodrag pointer-events-auto absolute"
        style={{ left: place.x, top: place.bottom, width: START_WIDTH, transform: "translateY(-100%)" }}
      >
        {children}
      </div>
      <div
        aria-hidden
        className="absolute w-0 border-line-strong border-l-2 border-dashed"
        style={{ left: place.x + 24, top: place.bottom, height: START_GAP }}
      />
    </ViewportPortal>
  );
}
