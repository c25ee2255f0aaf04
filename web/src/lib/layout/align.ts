import type { Rect } from "./rects";
import { boundsOf } from "./rects";

export const ALIGNMENTS = ["left", "center", "right", "top", "middle", "bottom"] as const;
export type Alignment = (typeof ALIGNMENTS)[number];
export type Axis = "horizontal" | "vertical";
type Points = Record<string, { x: number; y: number }>;

/** Put rectangles in one line. */
export function align(rects: Record<string, Rect>, how: Alignment): Points {
  const bounds = boundsOf(Object.values(rects));
  if (!bounds) return {};
  const place: Record<Alignment, (rect: Rect) => Partial<Rect>> = {
    left: () => ({ x: bounds.x }),
    center: (rect) => ({ x: bounds.x + (bounds.width - rect.width) / 2 }),
    right: (rect) => ({ x: bounds.x + bounds.width - rect.width }),
    top: () => ({ y: bounds.y }),
    middle: (rect) => ({ y: bounds.y + (bounds.height - rect.height) / 2 }),
    bottom: (rect) => ({ y: bounds.y + bounds.height - rect.height }),
  };
  return mapped(rects, (rect) => ({ ...rect, ...place[how](rect) }));
}

/** The same space between rectangles, the first and the last where they are. */
export function distribute(rects: Record<string, Rect>, axis: Axis): Points {
  const [start, size] = axis === "horizontal" ? (["x", "width"] as const) : (["y", "height"] as const);
  const sorted = Object.entries(rects).sort(([, a], [, b]) => a[start] - b[start]);
  const bounds = boundsOf(Object.values(rects));
  if (!bounds || sorted.length < 3) return mapped(rects, (rect) => rect);
  const filled = sorted.reduce((sum, [, rect]) => sum + rect[size], 0);
  const gap = (bounds[size] - filled) / (sorted.length - 1);
  let next = bounds[start];
  const places = new Map<string, number>();
  for (const [id, rect] of sorted) {
    places.set(id, next);
    next += rect[size] + gap;
  }
  return mapped(rects, (rect, id) => ({ ...rect, [start]: places.get(id) ?? rect[start] }));
}

function mapped(rects: Record<string, Rect>, place: (rect: Rect, id: string) => Rect): Points {
  return Object.fromEntries(
    Object.entries(rects).map(([id, rect]) => {
      const { x, y } = place(rect, id);
      return [id, { x: Math.round(x), y: Math.round(y) }];
    }),
  );
}
