import { useQuery } from "@tanstack/react-query";
import { Plus, ThumbsDown, ThumbsUp, X } from "lucide-react";
import { chatKeys, deleteFeedback, MOST_RATED, type RatedAnswer, ratedAnswersQuery } from "@/api/queries/chat";
import { addQuestion, evaluationKeys } from "@/api/queries/evaluations";
import type { KnowledgeBase } from "@/api/queries/knowledge";
import { Chip, IconButton, Row, Rows } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useKnowledgeTexts } from "../texts";

const LONGEST_QUESTION = 2_000;
const LONGEST_ANSWER = 10_000;

/** The answer that becomes the reference answer of a question. */
const referenceOf = (rated: RatedAnswer) => rated.correction || (rated.helpful ? rated.answer : "");
const isCut = (rated: RatedAnswer) =>
  rated.question.length > LONGEST_QUESTION || referenceOf(rated).length > LONGEST_ANSWER;

/** Feedback of users on answers from the base; each can become a question. Nothing while there is none. */
export function RatedAnswers({ base }: { base: KnowledgeBase }) {
  const t = useKnowledgeTexts();
  const { data } = useQuery(ratedAnswersQuery(base.id));
  const touches = [chatKeys.rated(base.id), evaluationKeys.questions(base.id)];
  const dismiss = useChange({
    change: (runId: string) => deleteFeedback(base.id, runId),
    touches,
    failed: t("delete_failed"),
  });
  const add = useChange({
    change: async (rated: RatedAnswer) => {
      const document_ids = rated.documents.map(({ id }) => id);
      const question = rated.question.slice(0, LONGEST_QUESTION);
      const answer = referenceOf(rated).slice(0, LONGEST_ANSWER);
      await addQuestion(base.id, { question, document_ids, quote: "", answer });
      await deleteFeedback(base.id, rated.run_id);
    },
    touches,
    failed: t("question_not_added"),
  });
  if (!data?.length) return null;
  return (
    <section aria-labelledby="feedback" className="flex flex-col gap-3">
      <h3 id="feedback" className="font-medium">
        {t("feedback")}
      </h3>
      <p className="text-sm text-muted">{t("feedback_help")}</p>
      <Rows label={t("feedback")}>
        {data.map((rated) => (
          <Row
            key={rated.run_id}
            icon={rated.helpful ? <ThumbsUp aria-label={t("helpful")} /> : <ThumbsDown aria-label={t("not_helpful")} />}
            title={
              <>
                {rated.question}
                {rated.by_visitor && <Chip>{t("by_visitor")}</Chip>}
              </>
            }
            detail={rated.correction ? t("correction", { text: rated.correction }) : rated.answer.slice(0, 300)}
            aside={
              <span className="flex">
                <IconButton
                  label={t("make_question", { what: rated.question })}
                  disabled={rated.documents.length === 0 || add.isPending}
                  onClick={() => add.mutate(rated)}
                >
                  <Plus />
                </IconButton>
                <IconButton
                  label={t("dismiss_feedback", { what: rated.question })}
                  onClick={() => dismiss.mutate(rated.run_id)}
                >
                  <X />
                </IconButton>
              </span>
            }
          >
            {isCut(rated) && <p className="mt-1 text-sm text-warn">{t("feedback_cut")}</p>}
          </Row>
        ))}
      </Rows>
      {data.length >= MOST_RATED && <p className="text-sm text-muted">{t("feedback_more", { count: MOST_RATED })}</p>}
    </section>
  );
}
