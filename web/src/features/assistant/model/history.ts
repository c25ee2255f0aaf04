/** What was sent, the newest first, and where somebody is in it; `at` null is their own draft. */
export interface InputHistory {
  entries: string[];
  at: number | null;
  draft: string;
}

const MOST_ENTRIES = 50;

export const emptyHistory = (entries: string[] = []): InputHistory => ({ entries, at: null, draft: "" });

/** One further back; the oldest stays. Null where there is nothing to recall. */
export function older(history: InputHistory, typed: string): { history: InputHistory; text: string } | null {
  if (history.entries.length === 0) return null;
  const at = history.at === null ? 0 : Math.min(history.at + 1, history.entries.length - 1);
  const draft = history.at === null ? typed : history.draft;
  return { history: { ...history, at, draft }, text: history.entries[at] ?? "" };
}

/** One further on, and at last the draft that was begun. Null where somebody is at their draft already. */
export function newer(history: InputHistory): { history: InputHistory; text: string } | null {
  if (history.at === null) return null;
  const at = history.at === 0 ? null : history.at - 1;
  return { history: { ...history, at }, text: at === null ? history.draft : (history.entries[at] ?? "") };
}

/** The history with what was sent; the same as the latest is not kept twice. */
export function pushed(history: InputHistory, sent: string): InputHistory {
  const known = history.entries[0] === sent;
  return emptyHistory(known ? history.entries : [sent, ...history.entries].slice(0, MOST_ENTRIES));
}

/** Whether Up means history: the caret stands in the first line, and nothing is marked. */
export const onFirstLine = (text: string, start: number, end: number): boolean =>
  start === end && !text.slice(0, start).includes("\n");

/** Whether Down means history: the caret stands in the last line. */
export const onLastLine = (text: string, start: number, end: number): boolean =>
  start === end && !text.slice(end).includes("\n");
