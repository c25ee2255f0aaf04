import type { StartedRunsOut } from "@/api/types";
import type { useRunTexts } from "../texts";

/** How the runs that a step started stand, in words. */
export function startedWords(counts: StartedRunsOut, t: ReturnType<typeof useRunTexts>): string {
  const { completed = 0, active = 0, failed = 0, cancelled = 0 } = counts;
  return [
    t("runs_done", { completed }),
    active > 0 && t("runs_active", { active }),
    failed > 0 && t("runs_failed", { failed }),
    cancelled > 0 && t("runs_cancelled", { cancelled }),
  ]
    .filter(Boolean)
    .join(", ");
}
