import { ArrowUp, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { JsonValue } from "@/api/types";
import { ModelPicker } from "@/components/models/ModelPicker";
import { fallbacksOf, modelName, withFallbacks } from "@/components/models/modelValue";
import { Button, IconButton } from "@/components/ui";
import { useFieldTexts } from "./texts";

const MOST = 5;

interface FallbackModelsProps {
  value: JsonValue | undefined;
  onChange: (value: JsonValue) => void;
}

/** The models that are asked in this order when the chosen one cannot answer. */
export function FallbackModels({ value, onChange }: FallbackModelsProps) {
  const t = useFieldTexts();
  const [adding, setAdding] = useState(false);
  const models = fallbacksOf(value);
  const set = (next: JsonValue[]) => onChange(withFallbacks(value, next));
  const nameOf = (model: JsonValue) => {
    const name = modelName(model);
    return name ? `${name.provider}/${name.name}` : "";
  };
  return (
    <div className="mt-1.5 flex flex-col gap-1.5">
      {models.length > 0 && (
        <ol aria-label={t("fallback_models")} className="flex flex-col gap-1.5">
          {models.map((model, index) => (
            <li key={`${index} ${nameOf(model)}`} className="flex items-start gap-1">
              <span className="w-4 shrink-0 pt-1.5 text-right text-faint text-xs tabular-nums">{index + 1}</span>
              <div className="min-w-0 flex-1">
                <ModelPicker
                  value={model}
                  label={t("fallback_model", { number: index + 1 })}
                  onChange={(next) => set(models.map((one, at) => (at === index ? next : one)))}
                />
              </div>
              <IconButton
                label={t("fallback_up", { model: nameOf(model) })}
                disabled={index === 0}
                onClick={() => set(raised(models, index))}
              >
                <ArrowUp />
              </IconButton>
              <IconButton
                label={t("fallback_remove", { model: nameOf(model) })}
                onClick={() => set(models.filter((_, at) => at !== index))}
              >
                <Trash2 />
              </IconButton>
            </li>
          ))}
        </ol>
      )}
      {adding ? (
        <ModelPicker
          value={undefined}
          label={t("fallback_model", { number: models.length + 1 })}
          onChange={(next) => {
            setAdding(false);
            set([...models, next]);
          }}
        />
      ) : (
        models.length < MOST && (
          <div>
            <Button size="sm" icon={<Plus />} onClick={() => setAdding(true)}>
              {t("fallback_add")}
            </Button>
          </div>
        )
      )}
      <p className="text-muted text-xs">{t("fallback_help")}</p>
    </div>
  );
}

/** The list with one model moved before the one above it. */
function raised(models: readonly JsonValue[], index: number): JsonValue[] {
  const moved = models[index];
  const others = models.filter((_, at) => at !== index);
  return moved === undefined ? [...models] : [...others.slice(0, index - 1), moved, ...others.slice(index - 1)];
}
