import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { addQuestions, evaluationKeys, type Proposals, proposeQuestions } from "@/api/queries/evaluations";
import type { KnowledgeBase } from "@/api/queries/knowledge";
import { ModelPicker } from "@/components/models/ModelPicker";
import { modelName } from "@/components/models/modelValue";
import { Button, Dialog, Field, Problem } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useKnowledgeTexts } from "../texts";

type Proposal = Proposals["proposals"][number];

/** A model makes questions from passages; those that are chosen become questions of the base. */
export function ProposeDialog({ base, onClose }: { base: KnowledgeBase; onClose: () => void }) {
  const t = useKnowledgeTexts();
  const [model, setModel] = useState("");
  const [chosen, setChosen] = useState<readonly Proposal[]>([]);
  const propose = useMutation({
    mutationFn: () => proposeQuestions(base.id, model),
    onSuccess: ({ proposals }) => setChosen(proposals),
  });
  const add = useChange<void>({
    change: async () => {
      const lines = chosen.map(({ document, ...rest }) => ({ ...rest, documents: [document.name] }));
      await addQuestions(base.id, JSON.stringify(lines));
    },
    touches: [evaluationKeys.questions(base.id)],
    failed: t("questions_not_added"),
  });
  const made = propose.data;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("propose_questions")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          {made?.proposals.length ? (
            <Button
              kind="primary"
              busy={add.isPending}
              disabled={chosen.length === 0}
              onClick={() => add.mutate(undefined, { onSuccess: onClose })}
            >
              {t("add_chosen", { count: chosen.length })}
            </Button>
          ) : (
            <Button kind="primary" busy={propose.isPending} disabled={model === ""} onClick={() => propose.mutate()}>
              {t("propose")}
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Field label={t("propose_model")} help={t("propose_model_help")}>
          {(control) => (
            <ModelPicker
              {...control}
              value={model}
              onChange={(value) => {
                const named = modelName(value);
                if (named) setModel(`${named.provider}/${named.name}`);
              }}
            />
          )}
        </Field>
        {propose.isError && <Problem error={propose.error} />}
        {made && (
          <p role="status" className="text-sm text-muted">
            {t("proposed", { count: made.proposals.length, rejected: made.rejected, tokens: made.tokens })}
          </p>
        )}
        <ul className="flex flex-col gap-3">
          {made?.proposals.map((proposal) => (
            <li key={`${proposal.document.id} ${proposal.question}`}>
              <label className="flex gap-2">
                <input
                  type="checkbox"
                  className="mt-1"
                  checked={chosen.includes(proposal)}
                  onChange={(event) =>
                    setChosen(
                      event.target.checked ? [...chosen, proposal] : chosen.filter((other) => other !== proposal),
                    )
                  }
                />
                <span className="min-w-0 break-words">
                  {proposal.question}
                  <span className="block text-sm text-muted">
                    {proposal.answer} ({proposal.document.name})
                  </span>
                </span>
              </label>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}
