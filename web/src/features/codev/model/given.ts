import type { Told } from "./read";

/** What a tool was given, a row each: texts as they are, lists by their members, the rest as compact JSON. */
export function given(values: Told): { name: string; value: string }[] {
  return Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => ({ name: name.replaceAll("_", " "), value: shown(value) }));
}

function shown(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
