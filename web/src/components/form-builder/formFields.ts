import type { FormField } from "@/api/types";

export const FIELD_TYPES = ["text", "number", "select", "json", "image", "audio", "document", "file"] as const;
export type FormFieldType = (typeof FIELD_TYPES)[number];

const ID = /^[\p{L}_][\p{L}\p{M}\p{N}_]{0,63}$/u;

export const isFieldId = (id: string) => ID.test(id);

/** A name that no field has yet, from a question: `Your name?` becomes `your_name`. */
export function fieldId(question: string, taken: readonly string[]): string {
  const words = question
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 60);
  const stem = words === "" ? "field" : /^\p{N}/u.test(words) ? `field_${words}`.slice(0, 60) : words;
  if (!taken.includes(stem)) return stem;
  for (let count = 2; ; count += 1) if (!taken.includes(`${stem}_${count}`)) return `${stem}_${count}`;
}

/** The field with another type: choices belong to a choice only, and it has at least one. */
export function withType(field: FormField, type: FormFieldType, firstChoice: string): FormField {
  const kept = field.options ?? [];
  return { ...field, type, options: type === "select" ? (kept.length > 0 ? kept : [firstChoice]) : [] };
}

/** The list with one of its entries elsewhere. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list];
  const [one] = next.splice(from, 1);
  if (one === undefined) return next;
  next.splice(Math.min(Math.max(to, 0), next.length), 0, one);
  return next;
}
