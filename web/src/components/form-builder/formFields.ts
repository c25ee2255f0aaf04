import type { FormField } from "@/api/types";

export type FormFieldType = NonNullable<FormField["type"]>;
/** What a form is for: to start a run, or to answer an approval, which takes no files. */
export type FieldUse = "run" | "approval";

const ANSWERS: readonly FormFieldType[] = [
  "text",
  "long_text",
  "number",
  "select",
  "multiselect",
  "checkbox",
  "date",
  "json",
];
export const FIELD_TYPES: Record<FieldUse, readonly FormFieldType[]> = {
  run: [...ANSWERS, "image", "audio", "document", "file"],
  approval: ANSWERS,
};

const BOUNDED: ReadonlySet<FormFieldType> = new Set(["text", "long_text", "number", "multiselect"]);
const CHOICES: ReadonlySet<FormFieldType> = new Set(["select", "multiselect"]);
export const isBounded = (type: FormFieldType | undefined) => BOUNDED.has(type ?? "text");
export const hasChoices = (type: FormFieldType | undefined) => CHOICES.has(type ?? "text");

/** A bound as it is typed: a number, nothing (`null`), or one that the field cannot have (`undefined`). */
export function boundOf(text: string, type: FormFieldType | undefined): number | null | undefined {
  const plain = text.trim().replace(",", ".");
  if (plain === "") return null;
  const bound = Number(plain);
  const counted = type !== "number";
  return !Number.isFinite(bound) || (counted && (bound < 0 || !Number.isInteger(bound))) ? undefined : bound;
}

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

/** The field with another type: choices belong to choices only, which have at least one, and bounds to what has a size. */
export function withType(field: FormField, type: FormFieldType, firstChoice: string): FormField {
  const kept = field.options ?? [];
  const options = hasChoices(type) ? (kept.length > 0 ? kept : [firstChoice]) : [];
  const { min: _, max: __, ...unbounded } = field;
  return { ...(isBounded(type) && isBounded(field.type) ? field : unbounded), type, options };
}

/** The list with one of its entries elsewhere. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list];
  const [one] = next.splice(from, 1);
  if (one === undefined) return next;
  next.splice(Math.min(Math.max(to, 0), next.length), 0, one);
  return next;
}
