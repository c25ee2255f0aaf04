import type { NodeRun } from "@/lib/draft";

export type EdgeState = "idle" | "moving" | "done" | "untaken";

/** What a run did with an edge, from what it did with its ends. */
export function edgeState(source: NodeRun | undefined, target: NodeRun | undefined): EdgeState {
  if (!target && !source) return "idle";
  if (target?.status === "running") return "moving";
  if (target?.status === "skipped" || source?.status === "skipped") return "untaken";
  return source?.status === "completed" && target?.status === "completed" ? "done" : "idle";
}
