import type { Rect } from "@/lib/layout";

/** Frame to what stands in it: whatever has its middle there. A node in several belongs to the smallest. */
export function membersOf(groups: readonly string[], rects: Record<string, Rect>): Record<string, string[]> {
  const found: Record<string, string[]> = Object.fromEntries(groups.map((id) => [id, []]));
  const area = (id: string) => (rects[id]?.width ?? 0) * (rects[id]?.height ?? 0);
  const smallestFirst = [...groups].sort((a, b) => area(a) - area(b));
  for (const [id, rect] of Object.entries(rects)) {
    const home = id in found ? undefined : smallestFirst.find((group) => holds(rects[group], rect));
    if (home) found[home]?.push(id);
  }
  return found;
}

function holds(frame: Rect | undefined, rect: Rect): boolean {
  if (!frame) return false;
  const [x, y] = [rect.x + rect.width / 2, rect.y + rect.height / 2];
  return x >= frame.x && x <= frame.x + frame.width && y >= frame.y && y <= frame.y + frame.height;
}
