import { Button } from "@/components/ui";
import { ServerForm, useServerForm } from "../ServerForm";
import { useModelSetupTexts } from "../texts";
import { Buttons } from "./Buttons";

interface StepProps {
  onBack: () => void;
  onConnected: (model: string) => void;
}

/** Connect a model server and test it. */
export function ServerStep({ onBack, onConnected }: StepProps) {
  const t = useModelSetupTexts();
  const form = useServerForm();
  const tested = form.save.data;
  const model = tested?.model ?? tested?.models[0];
  return (
    <>
      <ServerForm form={form} />
      <Buttons onBack={onBack}>
        <Button
          kind={form.works ? "secondary" : "primary"}
          disabled={!form.ready}
          busy={form.save.isPending}
          onClick={form.submit}
        >
          {t("save_and_test")}
        </Button>
        {form.works && (
          <Button kind="primary" onClick={() => onConnected(model ? `${form.name.trim()}/${model}` : "")}>
            {t("next")}
          </Button>
        )}
      </Buttons>
    </>
  );
}
