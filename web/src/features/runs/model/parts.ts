export { pinnable } from "@/lib/pins";

import type { JsonValue, RunStart } from "@/api/types";

export type Pins = Record<string, Record<string, JsonValue>>;

/** What a run is to carry out: all of the flow, one node with what stands before it, or a node and what follows. */
export interface Wanted {
  kind: "flow" | "node" | "from";
  nodeId?: string | undefined;
  /** Whether it stops before every step. */
  stepThrough?: boolean;
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
