import { Field, Input, Select } from "@/components/ui";
import { isFixed, isThreshold, type RuleDraft, WINDOWS } from "./draft";
import { useAlertTexts } from "./texts";
import { timeWords } from "./words";

interface ConditionFieldsProps {
  draft: RuleDraft;
  onChange: (changes: Partial<RuleDraft>) => void;
}

/** The threshold and the window of a rule, as its kind has them. */
export function ConditionFields({ draft, onChange }: ConditionFieldsProps) {
  const t = useAlertTexts();
  const { kind } = draft;
  const windows = [...new Set([...WINDOWS, Number(draft.window)])].sort((a, b) => a - b);
  const windowText = kind === "silent" ? "window_silent" : kind === "queue" ? "window_queue" : "window";
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {isFixed(kind) && (
        <p className="text-muted text-sm sm:col-span-2">{t(`about_${kind as "burn_fast" | "burn_slow"}`)}</p>
      )}
      {kind !== "silent" && !isFixed(kind) && (
        <Field
          label={t(`threshold_${kind as Exclude<typeof kind, "silent" | "burn_fast" | "burn_slow">}`)}
          error={isThreshold(draft) ? null : t("number_needed")}
        >
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              value={draft.threshold}
              onChange={(event) => onChange({ threshold: event.target.value })}
            />
          )}
        </Field>
      )}
      {kind !== "budget" && !isFixed(kind) && (
        <Field label={t(windowText)}>
          {(control) => (
            <Select
              {...control}
              value={draft.window}
              options={windows.map((seconds) => ({ value: String(seconds), label: timeWords(t, seconds) }))}
              onChange={(value) => onChange({ window: value })}
            />
          )}
        </Field>
      )}
      {(kind === "failure_rate" || isFixed(kind)) && (
        <Field label={t("fewest")} help={t("fewest_help")}>
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              value={draft.fewest}
              onChange={(event) => onChange({ fewest: event.target.value })}
            />
          )}
        </Field>
      )}
    </div>
  );
}
