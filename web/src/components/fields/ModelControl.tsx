import { useQuery } from "@tanstack/react-query";
import { modelRolesQuery } from "@/api/queries/modelSetup";
import { ModelPicker } from "@/components/models/ModelPicker";
import { fallbacksOf, modelKey, modelName, withKey } from "@/components/models/modelValue";
import { FallbackModels } from "./FallbackModels";
import { SecretSelect } from "./SecretControl";
import { useFieldTexts } from "./texts";
import type { ControlProps } from "./types";

/** A model, and the secret that is its key where the provider's own is not used. Empty is the default for steps. */
export function ModelControl({ field, nodeId: _, ...rest }: ControlProps) {
  const t = useFieldTexts();
  const { value, onChange } = rest;
  const key = modelKey(value);
  const roles = useQuery({ ...modelRolesQuery, enabled: field.default_model ?? false });
  const role = roles.data?.find((one) => one.role === "step");
  const standard = role && role.source !== "first_ready" ? (role.model ?? undefined) : undefined;
  return (
    <div className="flex flex-col gap-1.5">
      <ModelPicker {...rest} standard={standard} onStandard={() => onChange(undefined)} />
      {modelName(value) && (
        <details open={key !== ""} className="text-sm">
          <summary className="cursor-pointer text-muted text-xs hover:text-ink">{t("model_key")}</summary>
          <div className="mt-1.5 flex flex-col gap-1">
            <SecretSelect
              label={t("model_key")}
              name={key}
              required={false}
              none={t("model_key_none")}
              onChange={(name) => onChange(withKey(value, name))}
            />
            <p className="text-muted text-xs">{t("model_key_help")}</p>
          </div>
        </details>
      )}
      {modelName(value) && (
        <details open={fallbacksOf(value).length > 0} className="text-sm">
          <summary className="cursor-pointer text-muted text-xs hover:text-ink">{t("fallback_models")}</summary>
          <FallbackModels value={value} onChange={onChange} />
        </details>
      )}
    </div>
  );
}
