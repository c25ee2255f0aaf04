import type { AttentionFilter, AttentionKind } from "@/api/queries/attention";
import type { ViewSettings } from "@/api/queries/savedViews";

export const KINDS = [
  "failed_runs",
  "queued_runs",
  "stuck_runs",
  "failed_deliveries",
  "approvals",
  "trigger",
  "failing_trigger",
  "connection",
  "expiry",
  "budget",
  "alert",
  "dead_worker",
] as const satisfies readonly AttentionKind[];

/** Ages that can be chosen, each with what it asks for. */
export const AGES = {
  any: {},
  hour: { within_hours: 1 },
  day: { within_hours: 24 },
  old: { older_hours: 24 },
} as const satisfies Record<string, AttentionFilter>;
export type Age = keyof typeof AGES;

export function ageOf({ within_hours, older_hours }: AttentionFilter): Age {
  if (older_hours) return "old";
  return within_hours === 1 ? "hour" : within_hours ? "day" : "any";
}

/** The filter as a saved view stores it: without the space, which the page has chosen, and without what is empty. */
export function settingsOf(filter: AttentionFilter): ViewSettings {
  const filters: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(filter)) {
    if (name === "space_id" || name === "dismissed" || value === undefined || value === null) continue;
    filters[name] = Array.isArray(value) ? value.map(String) : String(value);
  }
  return { filters, columns: [] };
}

/** The filter of a saved view. */
export function filterOf({ filters = {} }: ViewSettings): AttentionFilter {
  const text = (name: string) => (typeof filters[name] === "string" ? filters[name] : undefined);
  const hours = (name: string) => (text(name) ? Number(text(name)) : undefined);
  const kinds = [filters.kind ?? []].flat().filter((one): one is AttentionKind => KINDS.includes(one as AttentionKind));
  return {
    ...(kinds.length > 0 ? { kind: kinds } : {}),
    flow_id: text("flow_id"),
    owner_id: text("owner_id"),
    assigned_to: text("assigned_to"),
    within_hours: hours("within_hours"),
    older_hours: hours("older_hours"),
  };
}
