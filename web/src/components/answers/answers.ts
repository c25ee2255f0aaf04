import type { FormField, JsonValue } from "@/api/types";
import { asData, inText } from "@/lib/jsonText";

/** What somebody put into a field that takes no file: text, the chosen options, or `"true"` of a checkbox. */
export type Given = string | string[];

export interface Fault {
  reason: "required" | "checked" | "number" | `${"min" | "max"}_${"number" | "text" | "choices"}`;
  bound?: number;
}

/** The answer in the type of its field; null: none. */
export function answerOf(field: FormField, given: Given | undefined): JsonValue {
  if (field.type === "checkbox") return given === "true";
  if (Array.isArray(given)) return given.length > 0 ? given : null;
  const text = given?.trim();
  if (!text) return null;
  if (field.type === "json") return asData(text);
  return field.type === "number" ? asNumber(text) : text;
}

/** What is put into a field for an answer that was given before; undefined for one that it does not take. */
export function givenOf(field: FormField, answer: unknown): Given | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (field.type === "multiselect") {
    const options = field.options ?? [];
    return (Array.isArray(answer) ? answer : [answer]).map(String).filter((one) => options.includes(one));
  }
  if (field.type === "select" && !field.options?.includes(String(answer))) return undefined;
  return typeof answer === "object" || field.type === "json" ? inText(answer) : String(answer);
}

/** What is wrong with an answer, as the server would say it; null: nothing. */
export function faultOf(field: FormField, given: Given | undefined): Fault | null {
  const answer = answerOf(field, given);
  if (field.type === "checkbox") return field.required && answer !== true ? { reason: "checked" } : null;
  if (answer === null) return field.required ? { reason: "required" } : null;
  if (field.type === "number") {
    return typeof answer === "number" && Number.isFinite(answer)
      ? outside(field, answer, "number")
      : { reason: "number" };
  }
  if (Array.isArray(answer)) return outside(field, answer.length, "choices");
  return typeof answer === "string" ? outside(field, [...answer].length, "text") : null;
}

/** The answers to a form, by id of the field, without empty ones. */
export function answersOf(form: readonly FormField[], given: Readonly<Record<string, Given>>) {
  const answers: Record<string, JsonValue> = {};
  for (const field of form) {
    const answer = answerOf(field, Object.hasOwn(given, field.id) ? given[field.id] : undefined);
    if (answer !== null) answers[field.id] = answer;
  }
  return answers;
}

function outside(field: FormField, size: number, what: "number" | "text" | "choices"): Fault | null {
  if (typeof field.min === "number" && size < field.min) return { reason: `min_${what}`, bound: field.min };
  if (typeof field.max === "number" && size > field.max) return { reason: `max_${what}`, bound: field.max };
  return null;
}

/** A number as people write it: `1 200,5` is one too. */
function asNumber(text: string): number {
  const plain = text.replace(/[\s\u00a0]/g, "").replace(",", ".");
  return plain === "" ? Number.NaN : Number(plain);
}
