import type { Flow } from "@/api/types";
import { type Corner, columnOf } from "./arrange";

/** Of the place in which small pictures stand. */
const [WIDE, HIGH] = [256, 104];
const BOX = { width: 220, height: 64 };
const GAP = { across: 44, down: 28 };
const MARGIN = 48;
/** How much larger a picture must become for one more line. */
const WORTH = 1.2;

/** Steps in columns that go on in a new line where that makes a small picture larger; null where it would not. */
export function compactCorners(flow: Flow, leftOut: ReadonlySet<string>): Map<string, Corner> | null {
  const columns: string[][] = [];
  const depths = columnOf(flow);
  for (const { id } of flow.nodes ?? []) {
    if (leftOut.has(id)) continue;
    const at = depths.get(id) ?? 0;
    columns[at] = [...(columns[at] ?? []), id];
  }
  const filled = columns.filter((column) => column?.length);
  if (filled.length === 0) return null;
  let best = { scale: 0, lines: [filled] };
  for (let long = filled.length; long >= 1; long--) {
    const lines = Array.from({ length: Math.ceil(filled.length / long) }, (_, line) =>
      filled.slice(line * long, (line + 1) * long),
    );
    const high = lines.reduce((sum, line) => sum + highest(line) * (BOX.height + GAP.down), MARGIN - GAP.down);
    const scale = Math.min(WIDE / (long * (BOX.width + GAP.across) - GAP.across + MARGIN), HIGH / high);
    if (scale > best.scale * WORTH) best = { scale, lines };
  }
  return placed(best.lines);
}

const highest = (line: string[][]) => Math.max(...line.map((column) => column.length));

function placed(lines: string[][][]): Map<string, Corner> {
  const found = new Map<string, Corner>();
  let top = 0;
  for (const line of lines) {
    const rows = highest(line);
    line.forEach((column, at) => {
      column.forEach((id, row) => {
        const down = row + (rows - column.length) / 2;
        found.set(id, { x: at * (BOX.width + GAP.across), y: (top + down) * (BOX.height + GAP.down) });
      });
    });
    top += rows;
  }
  return found;
}
