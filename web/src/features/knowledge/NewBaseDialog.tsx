import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { createBase, type KnowledgeBase, knowledgeKeys } from "@/api/queries/knowledge";
import { FormDialog } from "@/components/FormDialog";
import { Field, Input } from "@/components/ui";
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
    <FormDialog
      title={t("new_base")}
      action={t("create")}
      ready={name.trim() !== ""}
      busy={create.isPending}
      error={create.error}
      onSubmit={submit}
      onClose={onClose}
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
    </FormDialog>
  );
}
