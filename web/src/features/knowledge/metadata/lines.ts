import type { Metadata } from "@/api/queries/knowledge";

type Value = Metadata[string];

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;
const KEY = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63}$/u;

/** The value that a text says: a number, true, false, else the text; the server knows dates. */
export function typedValue(text: string): Value {
  if (text === "true" || text === "false") return text === "true";
  return NUMBER.test(text) ? Number(text) : text;
}

/** Metadata as lines of `key = value`. */
export const linesOf = (metadata: Metadata) =>
  Object.entries(metadata)
    .map(([key, value]) => `${key} = ${value}`)
    .join("\n");

/** Metadata of lines of `key = value`; null: a line is none. */
export function metadataOf(lines: string): Metadata | null {
  const metadata: Metadata = {};
  for (const line of lines.split("\n").filter((entry) => entry.trim() !== "")) {
    const at = line.indexOf("=");
    const key = line.slice(0, at).trim();
    if (at < 0 || !KEY.test(key)) return null;
    metadata[key] = typedValue(line.slice(at + 1).trim());
  }
  return metadata;
}
