import type { StepSummary } from "@/api/types";

/** What became of a step or an edge from one flow to the other. */
export type Mark = "added" | "removed" | "changed";

export const PORT_STROKES: Record<string, string> = {
  Text: "stroke-port-text",
  Message: "stroke-port-message",
  Data: "stroke-port-data",
  Table: "stroke-port-table",
  File: "stroke-port-file",
  Model: "stroke-port-model",
  Tool: "stroke-port-tool",
};

export const PORT_FILLS: Record<string, string> = {
  Text: "fill-port-text",
  Message: "fill-port-message",
  Data: "fill-port-data",
  Table: "fill-port-table",
  File: "fill-port-file",
  Model: "fill-port-model",
  Tool: "fill-port-tool",
};

export const PORT_TEXTS: Record<string, string> = {
  Text: "text-port-text",
  Message: "text-port-message",
  Data: "text-port-data",
  Table: "text-port-table",
  File: "text-port-file",
  Model: "text-port-model",
  Tool: "text-port-tool",
};

export const MARK_STROKES: Record<Mark, string> = { added: "stroke-ok", removed: "stroke-bad", changed: "stroke-warn" };

export interface BoxLook {
  fill: string;
  stroke: string;
  dot: string;
  /** What stands in the corner, so that colour is not all that tells. */
  sign: string;
  heavy?: boolean;
  dashed?: boolean;
}

const PLAIN: BoxLook = { fill: "fill-surface", stroke: "stroke-line-strong", dot: "fill-faint", sign: "" };
const NOTE: BoxLook = { ...PLAIN, fill: "fill-warn-soft", stroke: "stroke-warn/40" };

const OK = { fill: "fill-ok-soft", stroke: "stroke-ok", dot: "fill-ok", heavy: true };
const BAD = { fill: "fill-bad-soft", stroke: "stroke-bad", dot: "fill-bad", heavy: true };
const WARN = { fill: "fill-warn-soft", stroke: "stroke-warn", dot: "fill-warn", heavy: true };
const INFO = { fill: "fill-info-soft", stroke: "stroke-info", dot: "fill-info", heavy: true };

const MARKS: Record<Mark, BoxLook> = {
  added: { ...OK, sign: "+" },
  removed: { ...BAD, sign: "−", dashed: true },
  changed: { ...WARN, sign: "≠" },
};
const STATUSES: Record<StepSummary["status"], BoxLook> = {
  pending: PLAIN,
  running: { ...INFO, sign: "…" },
  waiting: { ...INFO, sign: "⏱" },
  completed: { ...OK, sign: "✓" },
  failed: { ...BAD, sign: "!" },
  cancelled: { ...WARN, sign: "×" },
  skipped: { ...PLAIN, fill: "fill-sunken", sign: "–" },
};

/** How a box looks: a mark before a state, a state before what it is. */
export function boxLook(note: boolean, mark?: Mark, status?: StepSummary["status"]): BoxLook {
  if (mark) return MARKS[mark];
  if (status) return STATUSES[status];
  return note ? NOTE : PLAIN;
}
