import type { Entry } from "./history";
import { list } from "./read";
import { readTrial, type Trial } from "./trial";

/** The newest trials: those that events told since the last phase of tests, or else those of the answer. */
export function liveTrials(entries: readonly Entry[], held: unknown): Trial[] {
  const told = entries.findLast((one) => one.kind === "trials");
  if (told?.kind === "trials") return told.trials;
  return list(held).map(readTrial);
}
