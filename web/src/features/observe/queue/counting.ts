import type { QueueGroup } from "@/api/queries/queue";
import { type Counts, type State, totalOf } from "./Bars";

export const stateOf = (group: QueueGroup): State =>
  group.reason === null ? "running" : group.reason === "paused" ? "paused" : "waiting";

/** Counts of groups by a key, the largest first. */
export function countsBy(groups: readonly QueueGroup[], keyOf: (group: QueueGroup) => string): [string, Counts][] {
  const counts = new Map<string, Counts>();
  for (const group of groups) {
    const key = keyOf(group);
    const of = counts.get(key) ?? { running: 0, waiting: 0, paused: 0 };
    of[stateOf(group)] += group.count;
    counts.set(key, of);
  }
  return [...counts].sort(([, one], [, other]) => totalOf(other) - totalOf(one));
}
