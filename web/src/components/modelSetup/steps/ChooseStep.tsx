import { useState } from "react";
import { putRole } from "@/api/queries/modelSetup";
import { ModelPicker } from "@/components/models/ModelPicker";
import { modelName } from "@/components/models/modelValue";
import { MODELS_TOUCHED } from "@/components/providers";
import { Button, Callout, Field, Problem } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useModelSetupTexts } from "../texts";
import { Buttons } from "./Buttons";

interface StepProps {
  /** The model that answered the test, if one did. */
  proposed: string;
  onBack: () => void;
  onChosen: () => void;
}

/** Choose the model that answers where nothing else is chosen. A local one is chosen for steps only. */
export function ChooseStep({ proposed, onBack, onChosen }: StepProps) {
  const t = useModelSetupTexts();
  const [model, setModel] = useState(proposed);
  const isLocal = model.startsWith("local/");
  const save = useChange({
    change: () => putRole(isLocal ? "step" : "default", [{ model, params: {} }]),
    touches: MODELS_TOUCHED,
  });
  return (
    <>
      <section aria-labelledby="choose" className="flex flex-col gap-3">
        <div>
          <h3 id="choose" className="font-semibold">
            {t("choose_title")}
          </h3>
          <p className="text-muted text-sm">{t("choose_more")}</p>
        </div>
        <Field label={t("choose_model")} {...(model ? {} : { help: t("choose_none") })}>
          {(control) => (
            <ModelPicker
              {...control}
              value={model}
              onChange={(value) => {
                const name = modelName(value);
                if (name) setModel(`${name.provider}/${name.name}`);
              }}
            />
          )}
        </Field>
        {isLocal && <Callout>{t("choose_local")}</Callout>}
        {save.isError && <Problem error={save.error} />}
      </section>
      <Buttons onBack={onBack}>
        <Button
          kind="primary"
          disabled={model === ""}
          busy={save.isPending}
          onClick={() => save.mutate(undefined, { onSuccess: onChosen })}
        >
          {t("choose_save")}
        </Button>
      </Buttons>
    </>
  );
}
