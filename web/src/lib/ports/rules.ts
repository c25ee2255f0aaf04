import type { PortType } from "@/api/types";

/** What becomes what on an edge by itself; the same table as `graph/ports.py`, which has the last word. */
const COERCIONS: Record<PortType, readonly PortType[]> = {
  Text: ["Message"],
  Message: ["Text", "Data"],
  Data: ["Text", "Table", "Message"],
  Table: ["Data", "Text", "Message"],
  File: [],
  Model: [],
  Tool: [],
};

export type Fit = "exact" | "coerced" | null;

/** How an output of `source` feeds an input that takes `targets`: as it is, converted, or not at all. */
export function fit(source: PortType, targets: readonly PortType[]): Fit {
  if (targets.includes(source)) return "exact";
  return targets.some((target) => COERCIONS[source].includes(target)) ? "coerced" : null;
}

/** What an edge carries: data, or a model or a tool that configures the step it leads to. */
export type EdgeKind = "data" | "model" | "tool";

export function edgeKind(type: PortType | null): EdgeKind {
  return type === "Model" ? "model" : type === "Tool" ? "tool" : "data";
}
