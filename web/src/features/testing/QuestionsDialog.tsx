import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { basesQuery } from "@/api/queries/knowledge";
import { addQuestionTests, testKeys } from "@/api/queries/tests";
import { ModelPicker } from "@/components/models/ModelPicker";
import { modelName } from "@/components/models/modelValue";
import { Button, Dialog, Field, Problem, Select, Toggle, toast } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useDraft } from "@/lib/draft";
import { useTestTexts } from "./texts";

/** Makes a test of each question of a knowledge base: its answer, and the documents that answer it. */
export function QuestionsDialog({ onClose }: { onClose: () => void }) {
  const t = useTestTexts();
  const flowId = useDraft((state) => state.flowId);
  const bases = useQuery(basesQuery);
  const [base, setBase] = useState("");
  const [model, setModel] = useState("");
  const [supported, setSupported] = useState(false);
  const add = useChange<void, Awaited<ReturnType<typeof addQuestionTests>>>({
    change: () => addQuestionTests(flowId, { base_id: base, judge_model: model, supported }),
    touches: [testKeys.all(flowId)],
  });
  const submit = () =>
    add.mutate(undefined, {
      onSuccess: ({ added, skipped, left }) => {
        const title = t("questions_added", { count: added.length, skipped });
        toast(left ? { title, detail: t("questions_left", { count: left }) } : { title });
        onClose();
      },
    });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("from_questions")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" busy={add.isPending} disabled={base === ""} onClick={submit}>
            {t("add_tests")}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <p className="text-sm text-muted">{t("from_questions_about")}</p>
        <Field label={t("knowledge_base")}>
          {(control) => (
            <Select
              {...control}
              value={base}
              placeholder={t("choose_base")}
              options={(bases.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
              onChange={setBase}
            />
          )}
        </Field>
        {bases.isError && <Problem error={bases.error} />}
        <Field label={t("judge")} help={t("judge_help")}>
          {(control) => (
            <ModelPicker
              {...control}
              value={model}
              onChange={(value) => {
                const named = modelName(value);
                setModel(named ? `${named.provider}/${named.name}` : "");
              }}
            />
          )}
        </Field>
        <Toggle label={t("must_be_supported")} checked={supported} onChange={setSupported} />
        {add.isError && <Problem error={add.error} />}
      </div>
    </Dialog>
  );
}
