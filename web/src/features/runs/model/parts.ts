import type { JsonValue, RunStart } from "@/api/types";

export type Pins = Record<string, Record<string, JsonValue>>;

/** What a run is to carry out: all of the flow, one node with what stands before it, or a node and what follows. */
export interface Wanted {
  kind: "flow" | "node" | "from";
  nodeId?: string | undefined;
}

/** A run's start with the part that is wanted and the pins that stand in; the node that is to run is never pinned. */
export function withPart(start: RunStart, wanted: Wanted, pins: Pins, nodes: Record<string, unknown>): RunStart {
  const standing = Object.fromEntries(
    Object.entries(pins).filter(([id]) => id in nodes && (wanted.kind === "flow" || id !== wanted.nodeId)),
  );
  return {
    ...start,
    pins: standing,
    ...(wanted.kind === "node" && wanted.nodeId ? { only_step: wanted.nodeId } : {}),
    ...(wanted.kind === "from" && wanted.nodeId ? { from_step: wanted.nodeId } : {}),
  };
}

/** Outputs of a step as they are pinned; null where one of them is kept as a file. */
export function pinnable(outputs: unknown): Record<string, JsonValue> | null {
  if (typeof outputs !== "object" || outputs === null) return null;
  const found: Record<string, JsonValue> = {};
  for (const [name, entry] of Object.entries(outputs as Record<string, Record<string, JsonValue>>)) {
    if (!("value" in entry)) return null;
    found[name] = entry.value as JsonValue;
  }
  return Object.keys(found).length > 0 ? found : null;
}
