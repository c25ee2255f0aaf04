export interface Change {
  /** In percent, whole; null where there was nothing before to compare with. */
  percent: number | null;
  /** Whether it is better, worse, or neither. */
  tone: "good" | "bad" | "same";
}

/** How a figure changed against the time before. `lower`: less of it is better; `neutral`: neither is. */
export function changeOf(now: number | null, before: number | null, kind: "higher" | "lower" | "neutral"): Change {
  if (now === null || before === null || before === 0) return { percent: null, tone: "same" };
  const percent = Math.round(((now - before) / before) * 100);
  if (percent === 0 || kind === "neutral") return { percent, tone: "same" };
  return { percent, tone: percent > 0 === (kind === "higher") ? "good" : "bad" };
}

/** Of the runs that are over, how many worked; null where none is over. */
export function successRate({ completed, failed }: { completed: number; failed: number }): number | null {
  return completed + failed === 0 ? null : completed / (completed + failed);
}
