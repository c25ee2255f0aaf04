import type { FlowItem } from "@/api/queries/flowList";
import type { Flow, Template } from "@/api/types";

/** A flow as the drawing takes it, from what the list tells of it. */
export function flowOfSketch(item: Pick<FlowItem, "name" | "sketch">): Flow | null {
  if (!item.sketch || item.sketch.nodes.length === 0) return null;
  return { name: item.name, nodes: item.sketch.nodes, edges: item.sketch.edges } as Flow;
}

/** Templates by type, as drawings look them up. */
export function byType(templates: readonly Template[] | undefined): Record<string, Template> {
  return Object.fromEntries((templates ?? []).map((one) => [one.type, one]));
}
