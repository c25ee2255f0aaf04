import type { TestCase } from "@/api/queries/codev";
import { type Entry, planBefore } from "./history";
import { list } from "./read";
import type { LiveSession } from "./session";
import { readTrial, type Trial } from "./trial";

/** The newest trials: those that events told since the last phase of tests, or else those of the answer. */
export function liveTrials(entries: readonly Entry[], held: unknown): Trial[] {
  const told = entries.findLast((one) => one.kind === "trials");
  if (told?.kind === "trials") return told.trials;
  return list(held).map(readTrial);
}

/** The cases that trials are of: while a repair is proposed those of the plan before it, otherwise all there are. */
export function casesRun(trials: readonly Trial[], cases: TestCase[], { interrupt, entries }: LiveSession): TestCase[] {
  if (trials.length === 0 || !interrupt) return cases;
  const before = planBefore(entries, interrupt)?.cases ?? [];
  return [...before, ...cases].filter(({ name }) => trials.some((one) => one.case === name));
}
