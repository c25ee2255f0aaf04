import type { GraphNode } from "@/api/queries/overview";

type Role = NonNullable<GraphNode["role"]> | "other";
type Status = NonNullable<GraphNode["run"]>["status"];

export const roleOf = (node: GraphNode): Role => node.role ?? "other";

/** The stripe at the left of a box: where the flow begins, a model's work, where it ends. */
export const ROLE_STRIPES: Record<Role, string> = {
  input: "bg-accent",
  model: "bg-warn",
  output: "bg-port-message",
  step: "bg-line-strong",
  other: "bg-port-model",
};

export const ROLE_FILLS: Record<Role, string> = {
  input: "!fill-accent",
  model: "!fill-warn",
  output: "!fill-port-message",
  step: "!fill-line-strong",
  other: "!fill-port-model",
};

export const STATUS_BOXES: Record<Status, string> = {
  pending: "border-line border-dashed bg-surface",
  running: "border-info bg-info-soft",
  waiting: "border-info border-dashed bg-info-soft",
  completed: "border-ok bg-ok-soft",
  failed: "border-bad bg-bad-soft",
  cancelled: "border-warn bg-warn-soft",
  skipped: "border-line bg-sunken text-muted",
};

export const STATUS_FILLS: Record<Status, string> = {
  pending: "!fill-line",
  running: "!fill-info",
  waiting: "!fill-info",
  completed: "!fill-ok",
  failed: "!fill-bad",
  cancelled: "!fill-warn",
  skipped: "!fill-line-strong",
};
