export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

export function boundsOf(rects: Rect[]): Rect | null {
  if (rects.length === 0) return null;
  let left = Number.POSITIVE_INFINITY;
  let top = Number.POSITIVE_INFINITY;
  let right = Number.NEGATIVE_INFINITY;
  let bottom = Number.NEGATIVE_INFINITY;
  for (const one of rects) {
    left = Math.min(left, one.x);
    top = Math.min(top, one.y);
    right = Math.max(right, one.x + one.width);
    bottom = Math.max(bottom, one.y + one.height);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

export const overlaps = (a: Rect, b: Rect, gap = 0): boolean =>
  a.x < b.x + b.width + gap && b.x < a.x + a.width + gap && a.y < b.y + b.height + gap && b.y < a.y + a.height + gap;

/** The place nearest below or right of a wish where nothing stands. */
export function freePlace(wish: Rect, taken: Rect[], gap = 24): { x: number; y: number } {
  let place = wish;
  for (let step = 0; step < 60; step += 1) {
    const hit = taken.find((one) => overlaps(place, one, gap));
    if (!hit) break;
    place = step % 6 === 5 ? { ...wish, x: wish.x + (step + 1) * 60 } : { ...place, y: hit.y + hit.height + gap + 1 };
  }
  return { x: Math.round(place.x), y: Math.round(place.y) };
}
