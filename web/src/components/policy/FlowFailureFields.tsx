import { Field, Select } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { NumberBox } from "./NumberBox";
import { RetryFields } from "./RetryFields";
import { usePolicyTexts } from "./texts";

/** Retries and the limit of an attempt for all steps that set none. */
export function FlowFailureFields() {
  const t = usePolicyTexts();
  const store = useDraftStore();
  const settings = useDraft((state) => state.document.settings);
  const editable = useDraft((state) => state.editable);
  const set = store.getState().setSettings;
  const retry = settings.retry ?? null;
  return (
    <fieldset disabled={!editable} className="flex min-w-0 flex-col gap-4 border-line border-t pt-4">
      <Field label={t("flow_retries")} help={t("flow_retries_about")}>
        {(control) => (
          <Select
            {...control}
            value={retry === null ? "none" : "own"}
            options={[
              { value: "none", label: t("retries_none") },
              { value: "own", label: t("retries_own") },
            ]}
            onChange={(next) => set({ retry: next === "none" ? null : { max_attempts: 3 } })}
          />
        )}
      </Field>
      {retry && <RetryFields retry={retry} onChange={(next) => set({ retry: next })} />}
      <NumberBox
        label={t("attempt_limit")}
        placeholder={t("default_limit")}
        value={settings.step_timeout_seconds ?? null}
        most={604_800}
        onChange={(step_timeout_seconds) => set({ step_timeout_seconds })}
      />
      <NumberBox
        label={t("run_deadline")}
        help={t("run_deadline_about")}
        value={settings.run_deadline_seconds ?? null}
        most={315_360_000}
        onChange={(run_deadline_seconds) => set({ run_deadline_seconds })}
      />
    </fieldset>
  );
}
