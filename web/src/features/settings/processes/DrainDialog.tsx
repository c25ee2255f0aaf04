import { useState } from "react";
import { drainProcess, type Process, processKeys } from "@/api/queries/processes";
import { FormDialog } from "@/components/FormDialog";
import { Field, Input } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";

const MOST_MINUTES = 1440;

/** Asks when a process that is drained hands over its runs. */
export function DrainDialog({ process, onClose }: { process: Process; onClose: () => void }) {
  const t = useSettingsTexts();
  const [minutes, setMinutes] = useState("");
  const drain = useChange({ change: drainProcess, touches: [processKeys.all] });
  const text = minutes.trim();
  const ready = text === "" || (/^\d{1,4}$/.test(text) && Number(text) <= MOST_MINUTES);
  const order = { id: process.id, handOverSeconds: text === "" ? null : Number(text) * 60 };
  return (
    <FormDialog
      title={t("drain_of", { host: process.host, pid: process.pid })}
      action={t("drain")}
      ready={ready}
      busy={drain.isPending}
      error={drain.error}
      onSubmit={() => drain.mutate(order, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p className="text-muted">{t("drain_about")}</p>
      <Field label={t("hand_over_after")} help={t("hand_over_help")} error={ready ? null : t("hand_over_number")}>
        {(control) => (
          <Input
            {...control}
            inputMode="numeric"
            value={minutes}
            placeholder={t("hand_over_never")}
            onChange={(event) => setMinutes(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}
