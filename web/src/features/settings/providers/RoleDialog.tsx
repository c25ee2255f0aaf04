import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { putRole, type RoleModel, type RoleState, removeRole } from "@/api/queries/modelSetup";
import type { JsonValue } from "@/api/types";
import { ROLE_WORDS, useModelSetupTexts } from "@/components/modelSetup";
import { ModelPicker } from "@/components/models/ModelPicker";
import { modelName } from "@/components/models/modelValue";
import { MODELS_TOUCHED } from "@/components/providers";
import { Button, Checkbox, Dialog, Field, IconButton, Input, Problem, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";

const OFFLINE = "offline";
const EFFORTS = ["minimal", "low", "medium", "high"] as const;
const MOST = 8;

/** Chooses the model of a role and its parameters; for the fallback chain several, in their order. */
export function RoleDialog({ state, onClose }: { state: RoleState; onClose: () => void }) {
  const t = useSettingsTexts();
  const words = useModelSetupTexts();
  const title = words(ROLE_WORDS[state.role].title);
  const [models, setModels] = useState<RoleModel[]>(() => startOf(state));
  const several = state.role === "fallback";
  const offline = models[0]?.model === OFFLINE;
  const ready = models.length > 0 && models.every(({ model }) => model !== "");
  const save = useChange({ change: () => putRole(state.role, models), touches: MODELS_TOUCHED });
  const reset = useChange({ change: () => removeRole(state.role), touches: MODELS_TOUCHED });
  const change = (at: number, model: RoleModel) => setModels(models.map((one, index) => (index === at ? model : one)));
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={title}
      description={words(ROLE_WORDS[state.role].more)}
      footer={
        <>
          {state.source === "settings" && state.models.length > 0 && (
            <Button kind="ghost" busy={reset.isPending} onClick={() => reset.mutate(undefined, { onSuccess: onClose })}>
              {t("role_reset")}
            </Button>
          )}
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button
            kind="primary"
            disabled={!ready}
            busy={save.isPending}
            onClick={() => save.mutate(undefined, { onSuccess: onClose })}
          >
            {t("save")}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {state.role === "assistant" && (
          <div className="flex items-center gap-2">
            <Checkbox
              checked={offline}
              aria-label={t("role_use_offline")}
              onChange={(checked) => setModels([{ model: checked ? OFFLINE : "", params: {} }])}
            />
            <span>{t("role_use_offline")}</span>
          </div>
        )}
        {!offline &&
          models.map((one, index) => (
            <div key={index} className="flex flex-col gap-3">
              <Field
                label={t("role_model")}
                aside={
                  several &&
                  models.length > 1 && (
                    <IconButton
                      size="sm"
                      label={t("role_remove_model", { number: index + 1 })}
                      onClick={() => setModels(models.filter((_, at) => at !== index))}
                    >
                      <Trash2 />
                    </IconButton>
                  )
                }
              >
                {(control) => (
                  <ModelPicker
                    {...control}
                    value={one.model}
                    onChange={(value) => {
                      const name = modelName(value);
                      if (name) change(index, { ...one, model: `${name.provider}/${name.name}` });
                    }}
                  />
                )}
              </Field>
              <Params value={one.params ?? {}} onChange={(params) => change(index, { ...one, params })} />
            </div>
          ))}
        {several && models.length < MOST && (
          <div>
            <Button size="sm" icon={<Plus />} onClick={() => setModels([...models, { model: "", params: {} }])}>
              {t("role_another")}
            </Button>
          </div>
        )}
        {(save.error ?? reset.error) && <Problem error={save.error ?? reset.error} />}
      </div>
    </Dialog>
  );
}

type Values = NonNullable<RoleModel["params"]>;

function Params({ value, onChange }: { value: Values; onChange: (value: Values) => void }) {
  const t = useSettingsTexts();
  const set = (name: string, next: JsonValue | undefined) => {
    const { [name]: _, ...rest } = value;
    onChange(next === undefined ? rest : { ...rest, [name]: next });
  };
  const numbers = [
    ["temperature", t("param_temperature"), 0.1],
    ["max_tokens", t("param_max_tokens"), 1],
    ["timeout_seconds", t("param_timeout"), 1],
  ] as const;
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
      {numbers.map(([name, label, step]) => (
        <Field key={name} label={label}>
          {(control) => (
            <Input
              {...control}
              type="number"
              min={0}
              step={step}
              placeholder={t("param_default")}
              value={typeof value[name] === "number" ? String(value[name]) : ""}
              onChange={({ target }) => set(name, target.value === "" ? undefined : Number(target.value))}
            />
          )}
        </Field>
      ))}
      <Field label={t("param_effort")}>
        {(control) => (
          <Select
            {...control}
            value={typeof value.reasoning_effort === "string" ? value.reasoning_effort : "default"}
            options={[
              { value: "default", label: t("param_default") },
              ...EFFORTS.map((effort) => ({ value: effort, label: t(`effort_${effort}`) })),
            ]}
            onChange={(effort) => set("reasoning_effort", effort === "default" ? undefined : effort)}
          />
        )}
      </Field>
      <div className="flex items-center gap-2 sm:col-span-2">
        <Checkbox
          checked={value.tool_shim === true}
          aria-label={t("param_shim")}
          onChange={(checked) => set("tool_shim", checked ? true : undefined)}
        />
        <span>
          {t("param_shim")} <span className="text-muted text-sm">{t("param_shim_help")}</span>
        </span>
      </div>
    </div>
  );
}

/** What is chosen for the role itself; else the model that it has now, to begin from. */
function startOf({ models, model, params, source }: RoleState): RoleModel[] {
  const own = models.map((one) => ({
    model: one.provider === OFFLINE ? OFFLINE : `${one.provider}/${one.name}`,
    params: one.params ?? {},
  }));
  if (own.length > 0 && source !== "first_ready") return own;
  return [{ model: model ?? "", params: params ?? {} }];
}
