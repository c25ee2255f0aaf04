import type { JsonValue } from "@/api/types";
import { type JsonRead, readJson } from "@/components/fields/jsonFaults";

export type Outputs = Record<string, JsonValue>;

/** An output as it is edited: a text as it is, everything else as JSON. */
export const asWritten = (value: JsonValue, isText: boolean): string =>
  isText && typeof value === "string" ? value : JSON.stringify(value, null, 2);

/** What was written of an output, or the line on which it stops being JSON. */
export const readWritten = (written: string, isText: boolean): JsonRead =>
  isText ? { ok: true, value: written } : readJson(written);

/** The outputs that were written; null while one of them is not valid. */
export function editedOutputs(written: Record<string, string>, texts: ReadonlySet<string>): Outputs | null {
  const outputs: Outputs = {};
  for (const [name, text] of Object.entries(written)) {
    const read = readWritten(text, texts.has(name));
    if (!read.ok) return null;
    outputs[name] = read.value;
  }
  return outputs;
}
