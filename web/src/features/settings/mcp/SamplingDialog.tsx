import { useState } from "react";
import { mcpServerKeys } from "@/api/queries/mcpServers";
import { FormDialog } from "@/components/FormDialog";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";
import { changeSampling, type McpServer, type Sampling } from "./calls";
import { isComplete, SamplingFields } from "./SamplingFields";

/** Chooses the model that answers requests of a server. */
export function SamplingDialog({ server, onClose }: { server: McpServer; onClose: () => void }) {
  const t = useSettingsTexts();
  const [value, setValue] = useState<Sampling | null>(server.sampling as Sampling | null);
  const save = useChange({ change: () => changeSampling(server.id, value), touches: [mcpServerKeys.all] });
  return (
    <FormDialog
      title={t("sampling_of", { what: server.name })}
      action={t("save")}
      ready={isComplete(value)}
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <SamplingFields value={value} onChange={setValue} />
    </FormDialog>
  );
}
