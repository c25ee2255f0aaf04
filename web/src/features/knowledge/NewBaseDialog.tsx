import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { createBase, type KnowledgeBase, knowledgeKeys } from "@/api/queries/knowledge";
import { Button, Dialog, Field, Input, Problem } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { EmbeddingField, useDefaultEmbedding } from "./Embedding";
import { useKnowledgeTexts } from "./texts";

/** Makes a knowledge base, and opens it. */
export function NewBaseDialog({ onClose }: { onClose: () => void }) {
  const t = useKnowledgeTexts();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [chosen, setModel] = useState<string | null>(null);
  const local = useDefaultEmbedding();
  const model = chosen ?? local;
  const create = useChange<void, KnowledgeBase>({
    change: () => createBase({ name: name.trim(), description, embedding_model: model.trim() }),
    touches: [knowledgeKeys.bases],
  });
  const submit = () =>
    create.mutate(undefined, {
      onSuccess: ({ id }) => {
        onClose();
        void navigate({ to: "/knowledge/{-$baseId}", params: { baseId: id } });
      },
    });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("new_base")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" disabled={!name.trim()} busy={create.isPending} onClick={submit}>
            {t("create")}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim()) submit();
        }}
      >
        <Field label={t("name")} help={t("name_help")} required>
          {(control) => <Input {...control} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <Field label={t("description")}>
          {(control) => (
            <Input {...control} value={description} onChange={(event) => setDescription(event.target.value)} />
          )}
        </Field>
        <EmbeddingField value={model} onChange={setModel} />
        <button type="submit" hidden />
        {create.isError && <Problem error={create.error} />}
      </form>
    </Dialog>
  );
}
