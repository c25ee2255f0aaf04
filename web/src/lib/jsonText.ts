import type { JsonValue } from "@/api/types";

/** Data as somebody writes it: JSON, else the text itself. */
export function asData(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** Data in a field: a text that is no JSON as it is, everything else as JSON. */
export const inText = (value: unknown): string =>
  typeof value === "string" && asData(value) === value ? value : JSON.stringify(value, null, 2);
