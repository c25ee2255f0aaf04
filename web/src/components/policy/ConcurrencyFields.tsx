import type { StepPolicy } from "@/api/types";
import { Field, Input } from "@/components/ui";
import { NumberBox } from "./NumberBox";
import { usePolicyTexts } from "./texts";

interface ConcurrencyFieldsProps {
  value: StepPolicy["concurrency"];
  onChange: (change: Partial<StepPolicy>) => void;
}

/** A key that steps share, and how many of them run at the same time; without a key there is no limit. */
export function ConcurrencyFields({ value, onChange }: ConcurrencyFieldsProps) {
  const t = usePolicyTexts();
  const key = value?.key ?? "";
  return (
    <div className="flex flex-col gap-3">
      <Field label={t("concurrency_key")} help={t("concurrency_key_about")}>
        {(control) => (
          <Input
            {...control}
            key={key}
            defaultValue={key}
            maxLength={64}
            onBlur={(event) => {
              const next = event.target.value.trim();
              if (next !== key) onChange({ concurrency: next === "" ? null : { key: next, max: value?.max ?? 1 } });
            }}
          />
        )}
      </Field>
      {value && (
        <NumberBox
          label={t("concurrency_max")}
          value={value.max}
          least={1}
          most={100_000}
          whole
          required
          onChange={(max) => onChange({ concurrency: { ...value, max: max ?? 1 } })}
        />
      )}
    </div>
  );
}
