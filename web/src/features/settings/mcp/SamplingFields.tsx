import { useId } from "react";
import { useRights } from "@/api/rights";
import { ModelPicker } from "@/components/models/ModelPicker";
import { Field, Input, Switch } from "@/components/ui";
import { useSettingsTexts } from "../texts";
import type { Sampling } from "./calls";

const STANDARD: Sampling = { model: "", max_tokens: 4000, max_requests: 5, ask: true };

interface SamplingFieldsProps {
  value: Sampling | null;
  onChange: (value: Sampling | null) => void;
}

/** The model that answers requests of a server, with their limits; null: it has none. */
export function SamplingFields({ value, onChange }: SamplingFieldsProps) {
  const t = useSettingsTexts();
  const { may } = useRights();
  const help = useId();
  const limits = [
    ["max_tokens", 200_000],
    ["max_requests", 50],
  ] as const;
  return (
    <>
      <div className="flex items-center gap-2">
        <Switch
          checked={value !== null}
          aria-label={t("sampling")}
          aria-describedby={help}
          onChange={(on) => onChange(on ? STANDARD : null)}
        />
        <span>{t("sampling")}</span>
      </div>
      <p id={help} className="text-muted text-sm">
        {t("sampling_help")}
      </p>
      {value && (
        <>
          <Field label={t("model")} required>
            {(control) => (
              <ModelPicker
                {...control}
                value={value.model}
                onChange={(model) => onChange({ ...value, model: typeof model === "string" ? model : "" })}
              />
            )}
          </Field>
          <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
            {limits.map(([limit, most]) => (
              <Field key={limit} label={t(`sampling_${limit}`)}>
                {(control) => (
                  <Input
                    {...control}
                    type="number"
                    min={1}
                    max={most}
                    value={value[limit] || ""}
                    onChange={(event) => onChange({ ...value, [limit]: Number(event.target.value) })}
                  />
                )}
              </Field>
            ))}
          </div>
          <div className="flex items-center gap-2">
            <Switch
              checked={value.ask}
              disabled={!may("models.manage")}
              aria-label={t("sampling_ask")}
              onChange={(ask) => onChange({ ...value, ask })}
            />
            <span>{t("sampling_ask")}</span>
          </div>
          {!may("models.manage") && <p className="text-muted text-sm">{t("sampling_ask_help")}</p>}
        </>
      )}
    </>
  );
}

/** Whether it can be saved. */
export const isComplete = (value: Sampling | null) =>
  value === null || (value.model !== "" && value.max_tokens > 0 && value.max_requests > 0);
