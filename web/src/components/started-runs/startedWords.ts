import type { StartedRunsOut } from "@/api/types";
import { number } from "@/lib/i18n/format";
import type { useStartedRunsTexts } from "./texts";

/** How the runs that a step started stand, in words. */
export function startedWords(counts: StartedRunsOut, t: ReturnType<typeof useStartedRunsTexts>): string {
  const { total, completed = 0, active = 0, failed = 0, cancelled = 0 } = counts;
  return [
    total ? t("runs_done_of", { completed: number(completed), total: number(total) }) : t("runs_done", { completed }),
    active > 0 && t("runs_active", { active }),
    failed > 0 && t("runs_failed", { failed }),
    cancelled > 0 && t("runs_cancelled", { cancelled }),
  ]
    .filter(Boolean)
    .join(", ");
}
