import type { JsonValue } from "@/api/types";

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
