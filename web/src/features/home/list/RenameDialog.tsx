import { type FormEvent, useState } from "react";
import type { FlowItem } from "@/api/queries/flowList";
import { Button, Dialog, Field, Input, Textarea } from "@/components/ui";
import { useHomeTexts } from "../texts";
import { useFlowActions } from "./useFlowActions";

export function RenameDialog({ item, onClose }: { item: FlowItem; onClose: () => void }) {
  const t = useHomeTexts();
  const act = useFlowActions();
  const [name, setName] = useState(item.name);
  const [description, setDescription] = useState(item.description);
  const [busy, setBusy] = useState(false);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const done = await act.rename(item.id, name.trim(), description);
    setBusy(false);
    if (done) onClose();
  };
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={t("rename")} size="sm">
      <form onSubmit={(event) => void save(event)} className="flex flex-col gap-4">
        <Field label={t("name")} required>
          {(control) => (
            <Input {...control} value={name} maxLength={200} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label={t("description")}>
          {(control) => (
            <Textarea
              {...control}
              value={description}
              maxLength={10_000}
              onChange={(event) => setDescription(event.target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" type="submit" busy={busy} disabled={!name.trim()}>
            {t("save")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
