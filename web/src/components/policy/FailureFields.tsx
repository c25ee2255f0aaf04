import type { StepPolicy } from "@/api/types";
import { Callout, Field, Select, Textarea } from "@/components/ui";
import { ConcurrencyFields } from "./ConcurrencyFields";
import { NumberBox } from "./NumberBox";
import { type Retry, RetryFields } from "./RetryFields";
import { usePolicyTexts } from "./texts";
import { usePolicy } from "./usePolicy";

const REACTIONS = ["fail", "default_value", "error_data", "error_edge"] as const;
const STATES = ["no", "pass_through", "skip"] as const;
const FIRST: Retry = { max_attempts: 3 };

/** What follows when a step fails: retries, time limits, and how its run goes on; and whether it is executed at all. */
export function FailureFields({ nodeId }: { nodeId: string }) {
  const t = usePolicyTexts();
  const { policy, set, issue } = usePolicy(nodeId);
  const reaction = policy.on_error ?? "fail";
  const retry = policy.retry ?? null;
  return (
    <div className="flex flex-col gap-4">
      <Field label={t("retries")} help={retry ? t("retries_about") : t("retries_inherit_about")} error={issue("retry")}>
        {(control) => (
          <Select
            {...control}
            value={retry === null ? "inherit" : retry.max_attempts === 1 ? "none" : "own"}
            options={[
              { value: "inherit", label: t("retries_inherit") },
              { value: "none", label: t("retries_none") },
              { value: "own", label: t("retries_own") },
            ]}
            onChange={(next) =>
              set({ retry: next === "inherit" ? null : next === "none" ? { max_attempts: 1 } : FIRST })
            }
          />
        )}
      </Field>
      {retry && retry.max_attempts > 1 && <RetryFields retry={retry} onChange={(next) => set({ retry: next })} />}
      <div className="grid grid-cols-2 gap-3">
        <NumberBox
          label={t("attempt_limit")}
          placeholder={t("default_limit")}
          value={policy.timeout_seconds ?? null}
          most={604_800}
          error={issue("timeout_seconds")}
          onChange={(timeout_seconds) => set({ timeout_seconds })}
        />
        <NumberBox
          label={t("total_limit")}
          placeholder={t("no_limit")}
          value={policy.total_timeout_seconds ?? null}
          most={31_536_000}
          error={issue("total_timeout_seconds")}
          onChange={(total_timeout_seconds) => set({ total_timeout_seconds })}
        />
      </div>
      <Field label={t("on_error")} help={t(`on_error_${reaction}_about`)} error={issue("on_error")}>
        {(control) => (
          <Select
            {...control}
            value={reaction}
            options={REACTIONS.map((one) => ({ value: one, label: t(`on_error_${one}`) }))}
            onChange={(on_error) => set({ on_error })}
          />
        )}
      </Field>
      {reaction === "default_value" && (
        <DefaultValue value={policy.default_value} error={issue("default_value")} onChange={set} />
      )}
      <Field label={t("disabled")} help={t(`disabled_${policy.disabled ?? "no"}_about`)} error={issue("disabled")}>
        {(control) => (
          <Select
            {...control}
            value={policy.disabled ?? "no"}
            options={STATES.map((one) => ({ value: one, label: t(`disabled_${one}`) }))}
            onChange={(disabled) => set({ disabled })}
          />
        )}
      </Field>
      <ConcurrencyFields value={policy.concurrency} onChange={set} />
      {policy.disabled === "skip" && <Callout tone="info">{t("disabled_note")}</Callout>}
    </div>
  );
}

interface DefaultValueProps {
  value: unknown;
  error: string | null;
  onChange: (change: Partial<StepPolicy>) => void;
}

/** A value as text, or as JSON where it is JSON. */
function DefaultValue({ value, error, onChange }: DefaultValueProps) {
  const t = usePolicyTexts();
  const shown = value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
  return (
    <Field label={t("default_value")} help={t("default_value_about")} required error={error}>
      {(control) => (
        <Textarea
          {...control}
          key={shown}
          className="font-mono"
          spellCheck={false}
          defaultValue={shown}
          onBlur={(event) => {
            const next = readValue(event.target.value);
            if (JSON.stringify(next) !== JSON.stringify(value ?? null)) onChange({ default_value: next });
          }}
        />
      )}
    </Field>
  );
}

/** JSON where the text is an object, a list, a number or a truth value; else the text itself. */
export function readValue(text: string): StepPolicy["default_value"] {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  try {
    return JSON.parse(trimmed) as StepPolicy["default_value"];
  } catch {
    return text;
  }
}
