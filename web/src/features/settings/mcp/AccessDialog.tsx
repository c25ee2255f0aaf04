import { useState } from "react";
import { mcpServerKeys } from "@/api/queries/mcpServers";
import { FormDialog } from "@/components/FormDialog";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";
import { AccessFields } from "./AccessFields";
import { changeAccess, type McpServer, NO_ACCESS, type ProgramAccess } from "./calls";

/** Changes the hosts and folders of a program. */
export function AccessDialog({ server, onClose }: { server: McpServer; onClose: () => void }) {
  const t = useSettingsTexts();
  const [value, setValue] = useState<ProgramAccess>({ ...NO_ACCESS, ...server.access });
  const save = useChange({ change: () => changeAccess(server.id, value), touches: [mcpServerKeys.all] });
  return (
    <FormDialog
      title={t("access_of", { what: server.name })}
      description={t("access_more")}
      action={t("save")}
      ready
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <AccessFields value={value} onChange={setValue} />
    </FormDialog>
  );
}
