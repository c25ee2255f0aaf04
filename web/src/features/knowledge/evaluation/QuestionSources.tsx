import { FileUp, Sparkles } from "lucide-react";
import { Suspense, useRef, useState } from "react";
import { addQuestions, evaluationKeys } from "@/api/queries/evaluations";
import type { KnowledgeBase } from "@/api/queries/knowledge";
import { Button, toast } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { part } from "@/lib/part";
import { useKnowledgeTexts } from "../texts";

const ProposeDialog = part(async () => ({ default: (await import("./ProposeDialog")).ProposeDialog }));

/** Other ways to questions: a file, and a model that makes them from passages. */
export function QuestionSources({ base }: { base: KnowledgeBase }) {
  const t = useKnowledgeTexts();
  const input = useRef<HTMLInputElement>(null);
  const [proposing, setProposing] = useState(false);
  const upload = useChange({
    change: async (file: File) => addQuestions(base.id, await file.text()),
    touches: [evaluationKeys.questions(base.id)],
    failed: t("questions_not_added"),
  });
  return (
    <div className="flex flex-wrap gap-2">
      <Button size="sm" icon={<FileUp />} busy={upload.isPending} onClick={() => input.current?.click()}>
        {t("upload_questions")}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t("upload_questions")}
        accept=".csv,.json,.jsonl,text/csv,application/json"
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = "";
          if (!file) return;
          upload.mutate(file, {
            onSuccess: ({ added, skipped }) => toast({ title: t("questions_added", { count: added.length, skipped }) }),
          });
        }}
      />
      <Button size="sm" icon={<Sparkles />} onClick={() => setProposing(true)}>
        {t("propose_questions")}
      </Button>
      <p className="w-full text-xs text-muted">{t("upload_questions_help")}</p>
      {proposing && (
        <Suspense fallback={null}>
          <ProposeDialog base={base} onClose={() => setProposing(false)} />
        </Suspense>
      )}
    </div>
  );
}
