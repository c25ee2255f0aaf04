import { useQuery } from "@tanstack/react-query";
import { Gauge } from "lucide-react";
import { useState } from "react";
import { evaluate, evaluationKeys, evaluationsQuery, questionsQuery } from "@/api/queries/evaluations";
import { type Condition, type KnowledgeBase, writtenBody } from "@/api/queries/knowledge";
import { Button, EmptyState, Problem } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { SearchFilters } from "../search/SearchFilters";
import { NONE_WRITTEN, WrittenQueries } from "../search/WrittenQueries";
import { useKnowledgeTexts } from "../texts";
import { Answers } from "./Answers";
import { Measures } from "./Measures";
import { Questions } from "./Questions";
import { RatedAnswers } from "./RatedAnswers";

/** How well the base is searched: its questions, and what evaluations of them measured. */
export function EvaluationPane({ base }: { base: KnowledgeBase }) {
  const t = useKnowledgeTexts();
  const [chosen, setChosen] = useState<string>();
  const [written, setWritten] = useState(NONE_WRITTEN);
  const [filters, setFilters] = useState<Condition[]>([]);
  const questions = useQuery(questionsQuery(base.id));
  const evaluations = useQuery(evaluationsQuery(base.id));
  const run = useChange({
    change: () => evaluate(base.id, { ...writtenBody(written), filters }),
    touches: [evaluationKeys.evaluations(base.id)],
    failed: t("not_evaluated"),
  });
  const shown = chosen ?? evaluations.data?.[0]?.id;
  return (
    <div className="flex flex-col gap-6 py-4">
      <Questions base={base} questions={questions} />
      <RatedAnswers base={base} />
      <section aria-labelledby="measures" className="flex flex-col gap-3">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <h3 id="measures" className="font-medium">
            {t("measures")}
          </h3>
          <Button
            kind="primary"
            icon={<Gauge />}
            busy={run.isPending}
            disabled={!questions.data?.length}
            onClick={() => run.mutate(undefined, { onSuccess: ({ id }) => setChosen(id) })}
          >
            {t("evaluate")}
          </Button>
        </div>
        <p className="text-sm text-muted">{t("measures_help")}</p>
        <div className="flex flex-wrap items-center gap-2">
          <WrittenQueries value={written} onChange={setWritten} />
        </div>
        <SearchFilters baseId={base.id} filters={filters} onChange={setFilters} />
        {evaluations.isError && <Problem error={evaluations.error} retry={() => void evaluations.refetch()} />}
        {evaluations.data?.length === 0 && (
          <EmptyState icon={<Gauge />} title={t("no_evaluations")}>
            {t("no_evaluations_more")}
          </EmptyState>
        )}
        {evaluations.data && evaluations.data.length > 0 && (
          <Measures evaluations={evaluations.data} shown={shown} onShow={setChosen} />
        )}
      </section>
      {shown && <Answers baseId={base.id} evaluationId={shown} />}
    </div>
  );
}
