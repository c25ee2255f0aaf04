import { figure, lines, record, words } from "./read";

/** One run of one test case. */
export interface Trial {
  case: string;
  trial: number;
  passed: boolean;
  answer: string;
  misses: string[];
  error: string;
  link: string;
  ms: number;
}

export function readTrial(value: unknown): Trial {
  const told = record(value);
  return {
    case: words(told.case),
    trial: figure(told.trial),
    passed: told.passed === true,
    answer: words(told.answer),
    misses: lines(told.misses),
    error: words(told.error),
    link: words(told.link),
    ms: figure(told.duration_ms),
  };
}

/** Trials with one more; the same trial again takes the place of what it was. */
export function withTrial(trials: readonly Trial[], next: Trial): Trial[] {
  const at = trials.findIndex((one) => one.case === next.case && one.trial === next.trial);
  return at < 0 ? [...trials, next] : trials.map((one, place) => (place === at ? next : one));
}

export interface CaseRow {
  name: string;
  trials: Trial[];
  passed: number;
}

/** Trials by case, in the order in which cases first came. */
export function byCase(trials: readonly Trial[]): CaseRow[] {
  const rows = new Map<string, Trial[]>();
  for (const trial of trials) rows.set(trial.case, [...(rows.get(trial.case) ?? []), trial]);
  return [...rows].map(([name, found]) => ({
    name,
    trials: found.sort((one, other) => one.trial - other.trial),
    passed: found.filter(({ passed }) => passed).length,
  }));
}

/** The address of a page of ours, or nothing: what a place says elsewhere is no link of the studio. */
export const ownLink = (link: string): string => (/^\/(?![/\\])/.test(link) ? link : "");

/** An address that may be opened in a new window: a page of the web, as a Flowise server's is. */
export const webLink = (link: string): string => (/^https?:\/\//i.test(link) ? link : "");
