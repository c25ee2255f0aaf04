import { PublishedFlowPicker } from "@/components/flow-picker";
import { Field } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { BudgetFields } from "./BudgetFields";
import { NumberBox } from "./NumberBox";
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
      <Field label={t("error_flow")} help={t("error_flow_about")}>
        {(control) => (
          <PublishedFlowPicker
            {...control}
            value={settings.error_flow ?? ""}
            none={t("no_error_flow")}
            onChange={(error_flow) => set({ error_flow })}
          />
        )}
      </Field>
      <NumberBox
        label={t("max_concurrent_runs")}
        help={t("max_concurrent_runs_about")}
        placeholder={t("unlimited")}
        value={settings.max_concurrent_runs ?? null}
        least={1}
        most={100_000}
        whole
        onChange={(max_concurrent_runs) => set({ max_concurrent_runs })}
      />
      <NumberBox
        label={t("priority")}
        help={t("priority_about")}
        value={settings.priority ?? 0}
        least={-100}
        most={100}
        whole
        required
        onChange={(priority) => set({ priority: priority ?? 0 })}
      />
    </fieldset>
  );
}
