import { useQuery } from "@tanstack/react-query";
import { runLimitsQuery } from "@/api/queries/runs";
import { Chip } from "@/components/ui";
import { amount } from "../model/amount";
import { isOver, type LiveRun } from "../model/live";
import { slotName } from "../model/slotName";
import { useRunTexts } from "../texts";

/** The budgets of a run and what is used of them; nothing for a run without one. */
export function RunLimits({ live }: { live: LiveRun }) {
  const t = useRunTexts();
  const settled = Object.values(live.steps).filter((step) => step.status !== "pending").length;
  const { data } = useQuery(runLimitsQuery(live.id, `${live.status} ${settled}`));
  const queued = isOver(live.status) ? [] : (data?.slots ?? []).filter((slot) => !slot.granted);
  if (!data || data.budgets.length + queued.length === 0) return null;
  return (
    <section aria-label={t("limits")} className="flex flex-wrap items-center gap-2 text-sm">
      {queued.map((slot) => (
        <Chip key={`${slot.name} ${slot.step_id}`} tone="warn">
          {t("waits_for_slot", { slot: slotName(t, slot.name), ahead: slot.ahead, most: slot.most })}
        </Chip>
      ))}
      {data.budgets.length > 0 && <h3 className="font-medium">{t("budgets")}</h3>}
      {data.budgets.map((budget) => (
        <Chip key={`${budget.owner_id} ${budget.kind}`} tone={budget.used >= budget.limit ? "bad" : "neutral"}>
          {t(
            budget.scope === "day" ? "budget_of_day" : budget.owner_id === live.id ? "budget_of_run" : "budget_above",
            {
              used: amount(t, budget.kind, budget.used),
              limit: amount(t, budget.kind, budget.limit),
            },
          )}
        </Chip>
      ))}
    </section>
  );
}
