import { useDraft, useDraftStore } from "@/lib/draft";
import { BudgetFields } from "./BudgetFields";
import { usePolicyTexts } from "./texts";

/** What the runs of the flow may use. */
export function FlowLimitFields() {
  const t = usePolicyTexts();
  const store = useDraftStore();
  const settings = useDraft((state) => state.document.settings);
  const editable = useDraft((state) => state.editable);
  const set = store.getState().setSettings;
  return (
    <fieldset disabled={!editable} className="flex min-w-0 flex-col gap-4 border-line border-t pt-4">
      <BudgetFields
        label={t("run_budget")}
        help={t("run_budget_about")}
        budget={settings.run_budget ?? null}
        onChange={(run_budget) => set({ run_budget })}
      />
      <BudgetFields
        label={t("daily_budget")}
        help={t("daily_budget_about")}
        budget={settings.daily_budget ?? null}
        onChange={(daily_budget) => set({ daily_budget })}
      />
    </fieldset>
  );
}
