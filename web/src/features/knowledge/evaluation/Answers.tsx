import { useQuery } from "@tanstack/react-query";
import { evaluationQuery } from "@/api/queries/evaluations";
import { Chip, Problem, Skeleton } from "@/components/ui";
import { useKnowledgeTexts } from "../texts";
import { wayOf } from "./way";

/** Each question of an evaluation, and where the documents that answer it were found: what was missed comes first. */
export function Answers({ baseId, evaluationId }: { baseId: string; evaluationId: string }) {
  const t = useKnowledgeTexts();
  const evaluation = useQuery(evaluationQuery(baseId, evaluationId));
  if (evaluation.isError) return <Problem error={evaluation.error} retry={() => void evaluation.refetch()} />;
  if (!evaluation.data) return <Skeleton className="h-24" />;
  const missed = (ranks: readonly (number | null)[]) => ranks.filter((rank) => rank === null).length;
  const answers = evaluation.data.answers
    .map((answer) => ({ ...answer, missed: Math.max(-1, ...answer.searches.map(({ ranks }) => missed(ranks))) }))
    .sort((one, other) => other.missed - one.missed);
  return (
    <section aria-labelledby="answers" className="flex flex-col gap-3">
      <h3 id="answers" className="font-medium">
        {t("per_question")}
      </h3>
      <ul className="flex flex-col gap-2">
        {answers.map((answer) => (
          <li
            key={answer.question_id}
            className="flex flex-col gap-1 rounded-lg border border-line bg-surface px-4 py-3"
          >
            <p className="wrap-anywhere font-medium">{answer.question}</p>
            {answer.searches.length === 0 && <p className="text-sm text-muted">{t("skipped_question")}</p>}
            {answer.searches.map(({ ranks, ...way }) => (
              <p key={wayOf(t, way)} className="flex flex-wrap items-center gap-2 text-sm text-muted">
                {wayOf(t, way)}:
                {ranks.map((rank, at) => {
                  const document = answer.documents[at];
                  const name = document?.name || t("no_document");
                  return (
                    <Chip
                      key={document?.id ?? at}
                      tone={rank === null ? "bad" : rank === 1 ? "ok" : undefined}
                      className="h-auto min-h-5 [&>span]:wrap-anywhere [&>span]:whitespace-normal"
                    >
                      {rank === null ? t("not_found", { name }) : t("found_at", { name, rank })}
                    </Chip>
                  );
                })}
              </p>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}
