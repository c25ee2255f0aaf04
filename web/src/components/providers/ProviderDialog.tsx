import { Button, Dialog } from "@/components/ui";
import { ProviderForm, useProviderForm } from "./ProviderForm";
import { useProviderTexts } from "./texts";

interface ProviderDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** A provider answered, and the dialog was left with it. */
  onDone?: () => void;
  /** The provider to begin with. */
  provider?: string;
}

/** Connect a provider of models where one is missed: choose it, give its key, test it. */
export function ProviderDialog({ open, onOpenChange, ...rest }: ProviderDialogProps) {
  return open ? <Opened onOpenChange={onOpenChange} {...rest} /> : null;
}

function Opened({ onOpenChange, onDone, provider }: Omit<ProviderDialogProps, "open">) {
  const t = useProviderTexts();
  const form = useProviderForm(provider);
  const done = () => {
    onOpenChange(false);
    onDone?.();
  };
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={t("title")}
      description={t("about")}
      size="lg"
      footer={
        <>
          <Button
            kind={form.works ? "secondary" : "primary"}
            disabled={!form.canTest}
            busy={form.connect.isPending}
            onClick={form.submit}
          >
            {t(form.isTyped ? "save_and_test" : "test")}
          </Button>
          {form.works && (
            <Button kind="primary" onClick={done}>
              {t("done")}
            </Button>
          )}
        </>
      }
    >
      <ProviderForm form={form} />
    </Dialog>
  );
}
