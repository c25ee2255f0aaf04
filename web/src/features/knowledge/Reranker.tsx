import { useState } from "react";
import { chooseReranker, type KnowledgeBase, knowledgeKeys } from "@/api/queries/knowledge";
import { useRights } from "@/api/rights";
import { FormDialog } from "@/components/FormDialog";
import { LocalModels } from "@/components/providers";
import { Button, Field, Input } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useKnowledgeTexts } from "./texts";

const FEWEST = 2;
const MOST = 100;

/** Which model puts the first passages of a search in its order, if there is one. */
export function Reranker({ base }: { base: KnowledgeBase }) {
  const t = useKnowledgeTexts();
  const { may } = useRights();
  const [choosing, setChoosing] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      <span className="min-w-0 wrap-anywhere">
        {base.rerank_model
          ? t("reranked", { model: base.rerank_model, count: base.rerank_candidates })
          : t("not_reranked")}
      </span>
      {may("knowledge.edit", base.space_id) && (
        <Button size="sm" onClick={() => setChoosing(true)}>
          {t("choose_reranker")}
        </Button>
      )}
      {choosing && <ChooseDialog base={base} onClose={() => setChoosing(false)} />}
    </div>
  );
}

function ChooseDialog({ base, onClose }: { base: KnowledgeBase; onClose: () => void }) {
  const t = useKnowledgeTexts();
  const [model, setModel] = useState(base.rerank_model);
  const [candidates, setCandidates] = useState(String(base.rerank_candidates));
  const count = Number(candidates);
  const ready = Number.isInteger(count) && count >= FEWEST && count <= MOST;
  const change = useChange<void>({
    change: () => chooseReranker(base.id, model.trim(), count),
    touches: [knowledgeKeys.bases, knowledgeKeys.searches(base.id)],
  });
  const submit = () => change.mutate(undefined, { onSuccess: onClose });
  return (
    <FormDialog
      title={t("rerank_model")}
      action={t("save")}
      ready={ready}
      busy={change.isPending}
      error={change.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={t("rerank_model")} help={t("rerank_help")}>
        {(control) => (
          <Input
            {...control}
            placeholder="cohere/rerank-v3.5"
            value={model}
            onChange={(event) => setModel(event.target.value)}
          />
        )}
      </Field>
      <LocalModels label={t("embedding_local")} use="rerank" onUse={setModel} />
      <Field label={t("candidates")} help={t("candidates_help")}>
        {(control) => (
          <Input
            {...control}
            type="number"
            min={FEWEST}
            max={MOST}
            value={candidates}
            onChange={(event) => setCandidates(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}
