import { own } from "@/lib/own";

/** Changed members of a value by name; `*` is a text as a whole. */
export type Edits = Readonly<Record<string, string>>;
type Members = Readonly<Record<string, unknown>>;

/** The members of a value, by the names that edits use. */
export function membersOf(value: unknown): Members {
  if (typeof value === "string") return { "*": value };
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

/** Whether a member may be changed: lists and objects never. */
export function mayEdit(name: string, value: unknown, editable: readonly string[]): boolean {
  const scalar = value === null || typeof value !== "object";
  return scalar && (editable.includes("*") || editable.includes(name));
}

/** A member as the text that a field edits. */
export const textOf = (value: unknown): string => (value === null || value === undefined ? "" : String(value));

/** The edits that change something. */
export function realEdits(value: unknown, edits: Edits): Record<string, string> {
  const members = membersOf(value);
  return Object.fromEntries(Object.entries(edits).filter(([name, text]) => text !== textOf(own(members, name))));
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Whether a changed member lost its type: a number must stay a number. */
export const isFaulty = (before: unknown, text: string): boolean => typeof before === "number" && !NUMBER.test(text);
