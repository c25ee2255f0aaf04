import type { ModelServer } from "@/api/queries/modelSetup";
import { ServerForm, useModelSetupTexts, useServerForm } from "@/components/modelSetup";
import { Button, Dialog } from "@/components/ui";
import { useSettingsTexts } from "../texts";

/** Connects or changes a model server, and tests it at once. */
export function ServerDialog({ changed, onClose }: { changed?: ModelServer; onClose: () => void }) {
  const t = useSettingsTexts();
  const words = useModelSetupTexts();
  const form = useServerForm(changed);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={changed ? t("edit_what", { what: changed.name }) : t("add_model_server")}
      description={t("add_model_server_more")}
      footer={
        <>
          <Button onClick={onClose}>{t(form.works ? "close_done" : "cancel")}</Button>
          <Button
            kind={form.works ? "secondary" : "primary"}
            disabled={!form.ready}
            busy={form.save.isPending}
            onClick={form.submit}
          >
            {words("save_and_test")}
          </Button>
        </>
      }
    >
      <ServerForm form={form} />
    </Dialog>
  );
}
