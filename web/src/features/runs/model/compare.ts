import type { StepSummary } from "@/api/types";

export interface Pair {
  id: string;
  label: string;
  mine: StepSummary | null;
  theirs: StepSummary | null;
  /** How much longer it took here, in milliseconds. */
  slower: number | null;
}

/** The steps of two runs side by side, in the order of the first; what only the other has comes where it stood. */
export function pairs(mine: readonly StepSummary[], theirs: readonly StepSummary[]): Pair[] {
  const here = new Map(mine.map((step) => [step.step_id, step]));
  const there = new Map(theirs.map((step) => [step.step_id, step]));
  const all = [...mine, ...theirs.filter((step) => !here.has(step.step_id))];
  return all
    .sort((one, other) => one.order - other.order)
    .map((step) => {
      const pair = { mine: here.get(step.step_id) ?? null, theirs: there.get(step.step_id) ?? null };
      const known = pair.mine?.ms != null && pair.theirs?.ms != null;
      return {
        id: step.step_id,
        label: step.label,
        ...pair,
        slower: known ? (pair.mine?.ms as number) - (pair.theirs?.ms as number) : null,
      };
    });
}
