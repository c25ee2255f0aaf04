import { useState } from "react";
import { prioritizeRun, type QueuedRun, queueKeys } from "@/api/queries/queue";
import { FormDialog } from "@/components/FormDialog";
import { Field, Input, Segments } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useQueueTexts } from "./texts";

const CLASSES = { low: "-50", normal: "0", high: "50" } as const;

/** Changes the place of a run among those that wait for a slot. */
export function PriorityDialog({ run, onClose }: { run: QueuedRun; onClose: () => void }) {
  const t = useQueueTexts();
  const [text, setText] = useState(String(run.priority));
  const change = useChange({ change: prioritizeRun, touches: [queueKeys.all] });
  const priority = Number(text.replace("−", "-"));
  const ready = text.trim() !== "" && Number.isInteger(priority) && Math.abs(priority) <= 100;
  return (
    <FormDialog
      title={t("priority_of", { flow: run.flow })}
      action={t("save")}
      ready={ready}
      busy={change.isPending}
      error={change.error}
      onSubmit={() => change.mutate({ id: run.id, priority }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p className="text-muted">{t("priority_about")}</p>
      <Segments
        aria-label={t("priority")}
        value={ready ? (priority > 0 ? "high" : priority < 0 ? "low" : "normal") : ("" as never)}
        options={(["low", "normal", "high"] as const).map((name) => ({ value: name, label: t(name) }))}
        onChange={(name) => setText(CLASSES[name])}
      />
      <Field label={t("priority")} help={t("priority_help")} error={ready ? null : t("priority_wrong")}>
        {(control) => (
          <Input {...control} inputMode="text" value={text} onChange={(event) => setText(event.target.value)} />
        )}
      </Field>
    </FormDialog>
  );
}
