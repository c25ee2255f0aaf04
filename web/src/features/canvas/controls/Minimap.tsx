import { useStoreApi } from "@xyflow/react";
import { memo, type PointerEvent, useEffect, useMemo, useRef } from "react";
import { kindRole } from "@/components/icons";
import { useDraft } from "@/lib/draft";
import { boundsOf, type Rect } from "@/lib/layout";
import { cardOf } from "../model/card";
import { motion, type Stage } from "../model/stage";

const WIDTH = 180;
const HEIGHT = 120;
const MARGIN = 8;
const NO_PORTS = { inputs: [], outputs: [] };

interface Scale {
  k: number;
  x: number;
  y: number;
}

/** The whole flow, small; a press or a drag on it goes there. Drawn when the flow changes, not while one moves about. */
export const Minimap = memo(function Minimap({ stage }: { stage: Stage }) {
  const nodes = useDraft((state) => state.document.nodes);
  const templates = useDraft((state) => state.templates);
  const rects = useMemo(
    () =>
      Object.values(nodes).map((node) => {
        const { kind, width, height } = cardOf(node, templates[node.type], NO_PORTS);
        const role = kindRole(templates[node.type]?.category);
        return { kind, role, x: node.position?.x ?? 0, y: node.position?.y ?? 0, width, height };
      }),
    [nodes, templates],
  );
  const scale = useMemo(() => scaleOf(rects), [rects]);
  const paths = useMemo(
    () => ({
      frames: drawn(
        rects.filter((one) => one.kind === "frame"),
        scale,
      ),
      boxes: [...groupedBy(rects.filter((one) => one.kind !== "frame"))].map(
        ([role, members]) => [role, drawn(members, scale)] as const,
      ),
    }),
    [rects, scale],
  );
  const go = (event: PointerEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = (event.clientX - box.x - scale.x) / scale.k;
    const y = (event.clientY - box.y - scale.y) / scale.k;
    void stage.flow.setCenter(x, y, { zoom: stage.flow.getZoom(), ...(event.type === "pointerdown" ? motion() : {}) });
  };
  return (
    <svg
      role="img"
      aria-label={stage.t("map")}
      width={WIDTH}
      height={HEIGHT}
      className="absolute right-3 bottom-3 z-10 cursor-pointer touch-none rounded-lg border border-line bg-raised shadow-card max-sm:hidden"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={(event) => event.buttons === 1 && go(event)}
    >
      <path d={paths.frames} className="fill-transparent stroke-line-strong" />
      {paths.boxes.map(([role, path]) => (
        <path key={role} d={path} fill={`var(--${role})`} />
      ))}
      <Seen scale={scale} />
    </svg>
  );
});

/** What is in sight, moved without React. */
function Seen({ scale }: { scale: Scale }) {
  const api = useStoreApi();
  const element = useRef<SVGRectElement>(null);
  useEffect(() => {
    const move = () => {
      const { transform, width, height } = api.getState();
      const [x, y, zoom] = transform;
      const box = element.current;
      if (!box) return;
      const left = Math.max(0, (-x / zoom) * scale.k + scale.x);
      const top = Math.max(0, (-y / zoom) * scale.k + scale.y);
      const right = Math.min(WIDTH, ((width - x) / zoom) * scale.k + scale.x);
      const bottom = Math.min(HEIGHT, ((height - y) / zoom) * scale.k + scale.y);
      box.setAttribute("x", String(left));
      box.setAttribute("y", String(top));
      box.setAttribute("width", String(Math.max(0, right - left)));
      box.setAttribute("height", String(Math.max(0, bottom - top)));
    };
    let transform = api.getState().transform;
    move();
    return api.subscribe((state) => {
      if (state.transform === transform) return;
      transform = state.transform;
      move();
    });
  }, [api, scale]);
  return <rect ref={element} rx={3} className="fill-selected/10 stroke-selected" />;
}

function groupedBy<T extends { role: string }>(rects: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const rect of rects) {
    const group = groups.get(rect.role);
    if (group) group.push(rect);
    else groups.set(rect.role, [rect]);
  }
  return groups;
}

function scaleOf(rects: Rect[]): Scale {
  const bounds = boundsOf(rects) ?? { x: 0, y: 0, width: 1, height: 1 };
  const k = Math.min((WIDTH - 2 * MARGIN) / bounds.width, (HEIGHT - 2 * MARGIN) / bounds.height, 0.12);
  return {
    k,
    x: (WIDTH - bounds.width * k) / 2 - bounds.x * k,
    y: (HEIGHT - bounds.height * k) / 2 - bounds.y * k,
  };
}

const drawn = (rects: Rect[], { k, x, y }: Scale): string =>
  rects
    .map(
      (one) =>
        `M${at(one.x * k + x)} ${at(one.y * k + y)}h${at(Math.max(1, one.width * k))}v${at(Math.max(1, one.height * k))}h${at(-Math.max(1, one.width * k))}z`,
    )
    .join("");
const at = (value: number) => Math.round(value * 10) / 10;
