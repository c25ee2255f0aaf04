import type { Flow } from "@/api/types";

const COLUMN = 380;
const ROW = 180;

export interface Corner {
  x: number;
  y: number;
}

/** Where nodes stand: where they were put, or in columns by what they follow when nobody put them anywhere. */
export function corners(flow: Flow): Map<string, Corner> {
  const nodes = flow.nodes ?? [];
  const own = new Map(nodes.map((node) => [node.id, { x: node.position?.x ?? 0, y: node.position?.y ?? 0 }]));
  const places = new Set([...own.values()].map(({ x, y }) => `${x},${y}`));
  if (places.size === own.size) return own;
  return columns(flow);
}

/** Columns by the longest way to a node; rows in the flow's own order. Circles end at their first node. */
function columns(flow: Flow): Map<string, Corner> {
  const depth = columnOf(flow);
  const rows = new Map<number, number>();
  return new Map(
    (flow.nodes ?? []).map((node) => {
      const column = depth.get(node.id) ?? 0;
      const row = rows.get(column) ?? 0;
      rows.set(column, row + 1);
      return [node.id, { x: column * COLUMN, y: row * ROW }];
    }),
  );
}

/** How many steps the longest way to a node has. */
export function columnOf(flow: Flow): Map<string, number> {
  const nodes = flow.nodes ?? [];
  const follows = new Map<string, string[]>(nodes.map((node) => [node.id, []]));
  for (const edge of flow.edges ?? []) {
    if (follows.has(edge.source)) follows.get(edge.target)?.push(edge.source);
  }
  const depth = new Map<string, number>();
  const inTurn = new Set<string>();
  const visit = (start: string) => {
    // A stack of our own: long flows are deeper than the browser's.
    const stack: [string, boolean][] = [[start, false]];
    while (stack.length > 0) {
      const [id, done] = stack.pop() as [string, boolean];
      const sources = follows.get(id) ?? [];
      if (done) {
        inTurn.delete(id);
        depth.set(id, Math.max(-1, ...sources.map((source) => depth.get(source) ?? -1)) + 1);
      } else if (!depth.has(id) && !inTurn.has(id)) {
        inTurn.add(id);
        stack.push([id, true]);
        for (const source of sources) stack.push([source, false]);
      }
    }
  };
  for (const node of nodes) visit(node.id);
  return depth;
}
