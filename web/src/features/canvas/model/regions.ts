import type { DraftStore } from "@/lib/draft";
import type { Rect } from "@/lib/layout";
import { readStored, removeStored, writeStored } from "@/lib/storage";
import { type Size, useView } from "./view";

/** Of a frame whose flow is not read yet. */
export const FIRST_SIZE: Size = { width: 420, height: 180 };

/** Between a node and the frame below it: room for what its last run did. */
export const BELOW = 36;

const keyOf = (flowId: string) => `regions.${flowId}`;

/** The nodes whose steps this user left open in a flow. */
export function rememberedRegions(flowId: string): Record<string, Size> {
  const ids: unknown[] = readStored<unknown[]>(keyOf(flowId), []);
  return Object.fromEntries(ids.flatMap((id) => (typeof id === "string" ? [[id, FIRST_SIZE]] : [])));
}

/** The field of a node that names the flow it runs. */
export function flowField(store: DraftStore, id: string): string | undefined {
  const { document, templates } = store.getState();
  return templates[document.nodes[id]?.type ?? ""]?.fields?.find((field) => field.kind === "flow")?.name;
}

/** Show the steps of the flow that a node runs, or hide them again. Nothing of it is part of the flow. */
export function toggleRegion(store: DraftStore, id: string): void {
  const { regions, set } = useView.getState();
  const { [id]: open, ...others } = regions;
  const next = open ? others : { ...regions, [id]: FIRST_SIZE };
  set({ regions: next, entering: open ? null : id });
  const key = keyOf(store.getState().flowId);
  if (Object.keys(next).length > 0) writeStored(key, Object.keys(next));
  else removeStored(key);
}

/** Rectangles of nodes, with the frames below them: what the layout leaves room for. */
export function withRegions(rects: Record<string, Rect>): Record<string, Rect> {
  const { regions } = useView.getState();
  const roomy = { ...rects };
  for (const [id, { width, height }] of Object.entries(regions)) {
    const node = rects[id];
    if (node) roomy[id] = { ...node, width: Math.max(node.width, width), height: node.height + BELOW + height };
  }
  return roomy;
}
