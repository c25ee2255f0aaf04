import type { Told } from "./read";

export interface Given {
  name: string;
  value: string;
  /** Whether it is a text or a number, to be read beside the tool's name. */
  plain: boolean;
}

/** What a tool was given, a row each: texts as they are, lists by their members, the rest as compact JSON. */
export function given(values: Told): Given[] {
  return Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => ({ name: name.replaceAll("_", " "), value: shown(value), plain: isPlain(value) }));
}

/** A text that is JSON itself is for who opens the line. */
const isPlain = (value: unknown): boolean =>
  typeof value === "number" || (typeof value === "string" && !/^\s*[[{]/.test(value));

function shown(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
