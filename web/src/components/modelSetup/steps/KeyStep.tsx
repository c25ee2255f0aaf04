import { ProviderForm, takesKey, useProviderForm, useProviderTexts } from "@/components/providers";
import { Button } from "@/components/ui";
import { useModelSetupTexts } from "../texts";
import { Buttons } from "./Buttons";

interface StepProps {
  onBack: () => void;
  onConnected: (model: string) => void;
}

/** Give the key of a provider and test it. */
export function KeyStep({ onBack, onConnected }: StepProps) {
  const t = useModelSetupTexts();
  const words = useProviderTexts();
  const form = useProviderForm(undefined, takesKey);
  const { current, connect } = form;
  const model = connect.data?.model ?? current?.default_model;
  return (
    <>
      <ProviderForm form={form} />
      <Buttons onBack={onBack}>
        <Button
          kind={form.works ? "secondary" : "primary"}
          disabled={!form.canTest}
          busy={connect.isPending}
          onClick={form.submit}
        >
          {words(form.isTyped ? "save_and_test" : "test")}
        </Button>
        {form.works && current && (
          <Button kind="primary" onClick={() => onConnected(model ? `${current.id}/${model}` : "")}>
            {t("next")}
          </Button>
        )}
      </Buttons>
    </>
  );
}
