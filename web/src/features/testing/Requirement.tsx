import type { TestSet } from "@/api/queries/tests";
import { Field, Select, Toggle } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useTestTexts } from "./texts";
import { TRIALS } from "./trials";

/** Whether the draft is published only when its tests pass: a setting of the draft, as all others. */
export function Requirement({ tests, editable }: { tests: TestSet; editable: boolean }) {
  const t = useTestTexts();
  const store = useDraftStore();
  const { require_tests: required = false, required_trials: trials = 1 } = useDraft((state) => state.document.settings);
  const allowed = useDraft((state) => state.editable) && editable;
  const { setSettings } = store.getState();
  const { state, failed = [] } = tests.standing;
  return (
    <section aria-labelledby="publishing-heading" className="flex flex-col gap-3">
      <h2 id="publishing-heading" className="text-lg font-semibold">
        {t("publishing")}
      </h2>
      <div className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4">
        <Toggle
          label={t("require")}
          help={t("require_about")}
          checked={required}
          disabled={!allowed}
          onChange={(next) => setSettings({ require_tests: next })}
        />
        {required && (
          <Field label={t("require_trials")} help={t("trials_help")}>
            {(control) => (
              <Select
                {...control}
                className="max-w-40"
                disabled={!allowed}
                value={String(trials)}
                options={TRIALS.map((count) => ({ value: String(count), label: t("times", { count }) }))}
                onChange={(next) => setSettings({ required_trials: Number(next) })}
              />
            )}
          </Field>
        )}
        <p role="status" className={state === "passed" ? "text-sm text-ok" : "text-sm text-muted"}>
          {t(`standing_${state}`, { names: failed.join(", ") })}
        </p>
      </div>
    </section>
  );
}
