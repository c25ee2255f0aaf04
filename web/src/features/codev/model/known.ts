import { figure, list, record, type Told, words } from "./read";

/** One write of a session, as its answer lists it. */
export interface Write {
  number: number;
  tool: string;
  summary: string;
  state: string;
  at: string;
}

export const readWrites = (value: unknown): Write[] =>
  list(value).map((one) => {
    const told = record(one);
    return {
      number: figure(told.number),
      tool: words(told.tool),
      summary: words(told.summary),
      state: words(told.state),
      at: words(told.at),
    };
  });

/** Whether everything that was written has been rolled back. */
export const allTakenBack = (writes: readonly Write[]): boolean =>
  writes.some(({ state }) => state === "rolled_back") && !writes.some(({ state }) => state === "done");

/** What was found, without the lines that are said to the server alone: a session may end before it has read them. */
export const readFound = (value: unknown): string =>
  words(value)
    .replace(/^[ \t*_`]*(?:CREDENTIALS_STATUS|MISSING_TYPES)[*_`]*:.*$/gm, "")
    .trim();

export interface Verdict {
  category: string;
  reason: string;
  fix: string;
}

export function readVerdict(value: unknown): Verdict | null {
  const told = record(value);
  const verdict = { category: words(told.category), reason: words(told.reason), fix: words(told.fix) };
  return verdict.reason || verdict.category ? verdict : null;
}

export interface Conflict {
  message: string;
  lines: string[];
}

export function readConflict(value: unknown): Conflict | null {
  const told = record(value);
  const message = words(told.message);
  return message ? { message, lines: list(told.lines).filter((one): one is string => typeof one === "string") } : null;
}

/** A plan that mends what did not pass, or that others made necessary, is asked about as such. */
export function kindOf(type: string, data: Told): string {
  if (type === "credential_check" && data.of === "model") return "model_key";
  if (type === "result_review" && readVerdict(data.verdict)) return "review_open";
  if (type !== "plan_approval") return type;
  if (readConflict(data.conflict)) return "plan_conflict";
  if (data.tests_changed === true) return "plan_tests";
  return readVerdict(data.verdict) ? "plan_repair" : type;
}

/** A credential that is missed, and what a person has to give to make it. */
export interface Missing {
  type: string;
  label: string;
  where: string;
  fields: { name: string; label: string; secret: boolean; optional: boolean }[];
}

export const readMissing = (value: unknown): Missing[] =>
  list(value).map((one) => {
    const told = record(one);
    const fields = list(told.fields).map((field) => {
      const it = record(field);
      return {
        name: words(it.name),
        label: words(it.label) || words(it.name),
        secret: it.secret !== false,
        optional: it.optional === true,
      };
    });
    const type = words(told.type);
    return { type, label: words(told.label) || type, where: words(told.where), fields: fields.filter((f) => f.name) };
  });
