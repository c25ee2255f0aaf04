import { RotateCcw } from "lucide-react";
import { useState } from "react";
import type { CodevSession } from "@/api/queries/codev";
import { ModelPicker } from "@/components/models/ModelPicker";
import { modelName } from "@/components/models/modelValue";
import { Button, Field } from "@/components/ui";
import { useCodevTexts } from "../texts";
import { useRetry } from "./useStop";

/** Continues a session that failed or was stopped, with the model it had or another. */
export function Continue({ session }: { session: CodevSession }) {
  const t = useCodevTexts();
  const [model, setModel] = useState(session.model);
  const retry = useRetry(session.thread_id);
  return (
    <div className="flex flex-wrap items-end gap-3">
      <div className="min-w-0 basis-72">
        <Field label={t("retry_model")} help={t("retry_model_help")}>
          {(control) => (
            <ModelPicker
              {...control}
              value={model}
              onChange={(value) => {
                const chosen = modelName(value);
                if (chosen) setModel(`${chosen.provider}/${chosen.name}`);
              }}
            />
          )}
        </Field>
      </div>
      <Button size="sm" icon={<RotateCcw />} busy={retry.isPending} onClick={() => retry.mutate(model)}>
        {t("go_on")}
      </Button>
    </div>
  );
}
