import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { chooseEmbedding, type KnowledgeBase, knowledgeKeys } from "@/api/queries/knowledge";
import { localModelsQuery } from "@/api/queries/modelSetup";
import { useRights } from "@/api/rights";
import { FormDialog } from "@/components/FormDialog";
import { LocalModels } from "@/components/providers";
import { Button, Field, Input } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useKnowledgeTexts } from "./texts";

/** How a base is searched: by words only, or with which model, and how far its passages are embedded. */
export function Embedding({ base }: { base: KnowledgeBase }) {
  const t = useKnowledgeTexts();
  const { may } = useRights();
  const [choosing, setChoosing] = useState(false);
  const model = base.embedding_model;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      <span>
        {model
          ? t("embedded", { model, done: base.passages_embedded, all: base.passages, tokens: base.embedding_tokens })
          : t("not_embedded")}
      </span>
      {base.vector_recall !== null && (
        <span>{t("approximate", { percent: Math.floor(base.vector_recall * 100) })}</span>
      )}
      {model !== base.searched_model && (
        <span role="status">
          {base.searched_model ? t("embedding_old", { model: base.searched_model }) : t("embedding_first")}
        </span>
      )}
      {may("knowledge.edit", base.space_id) && (
        <Button size="sm" onClick={() => setChoosing(true)}>
          {t("choose_embedding")}
        </Button>
      )}
      {choosing && <ChooseDialog base={base} onClose={() => setChoosing(false)} />}
    </div>
  );
}

function ChooseDialog({ base, onClose }: { base: KnowledgeBase; onClose: () => void }) {
  const t = useKnowledgeTexts();
  const [model, setModel] = useState(base.embedding_model);
  const change = useChange<void>({
    change: () => chooseEmbedding(base.id, model.trim()),
    touches: [knowledgeKeys.bases, knowledgeKeys.documents(base.id)],
  });
  const submit = () => change.mutate(undefined, { onSuccess: onClose });
  return (
    <FormDialog
      title={t("embedding_model")}
      action={t("save")}
      busy={change.isPending}
      error={change.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <EmbeddingField value={model} onChange={setModel} />
      <p className="text-sm text-muted">{t("embedding_again")}</p>
    </FormDialog>
  );
}

/** The model that embeds passages, as `provider/name`; empty: words only. Local models are offered below it. */
export function EmbeddingField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const t = useKnowledgeTexts();
  return (
    <>
      <Field label={t("embedding_model")} help={t("embedding_help")}>
        {(control) => (
          <Input
            {...control}
            placeholder="local/all-minilm-l6-v2"
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
      <LocalModels label={t("embedding_local")} use="embedding" onUse={onChange} />
    </>
  );
}

/** The embedding model that a new base gets: one that is on the server, so that nothing leaves it; else none. */
export function useDefaultEmbedding(): string {
  const local = useQuery(localModelsQuery).data?.find(({ use, ready }) => use === "embedding" && ready);
  return local ? `local/${local.name}` : "";
}
