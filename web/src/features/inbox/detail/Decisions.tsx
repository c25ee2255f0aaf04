import type { Approval, ApprovalDecision } from "@/api/queries/approvals";
import { useAnswerWords } from "@/components/answers";
import { DiffView } from "@/components/diff/DiffView";
import { Chip } from "@/components/ui";
import { dateTime } from "@/lib/i18n/format";
import { own } from "@/lib/own";
import { membersOf, textOf } from "../model/edits";
import { useInboxTexts } from "../texts";

/** Who decided what, when, with which comment, answers and changes. */
export function Decisions({ approval }: { approval: Approval }) {
  const t = useInboxTexts();
  if (approval.decisions.length === 0) return null;
  return (
    <section aria-label={t("decisions")} className="flex flex-col gap-2">
      <h3 className="text-sm font-medium text-muted">{t("decisions")}</h3>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
        {approval.decisions.map((decision) => (
          <li key={decision.user_id} className="flex flex-col gap-2 px-4 py-3">
            <Decision decision={decision} value={approval.value} questions={approval.questions} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface DecisionProps {
  decision: ApprovalDecision;
  value: unknown;
  questions: Approval["questions"];
}

function Decision({ decision, value, questions }: DecisionProps) {
  const t = useInboxTexts();
  const inWords = useAnswerWords();
  const members = membersOf(value);
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <Chip tone={decision.decision === "approve" ? "ok" : "bad"}>
          {t(`did_${decision.decision}`, {
            name: decision.outside
              ? t("outside_for", { name: decision.user_name, who: decision.outside })
              : decision.user_name,
          })}
        </Chip>
        <time dateTime={decision.decided_at} className="text-sm text-muted">
          {dateTime(decision.decided_at)}
        </time>
      </p>
      {decision.comment && <p className="whitespace-pre-wrap break-words">{decision.comment}</p>}
      {Object.entries(decision.answers).map(([id, answer]) => (
        <div key={id} className="text-sm">
          <p className="text-muted">{questions.find((field) => field.id === id)?.label || id}</p>
          <p className="whitespace-pre-wrap break-words">{inWords(answer)}</p>
        </div>
      ))}
      {Object.entries(decision.edits).map(([name, text]) => (
        <div key={name} className="flex flex-col gap-1 text-sm">
          <p className="text-muted">{name === "*" ? t("change") : t("change_of", { name })}</p>
          <DiffView label={t("change_of", { name })} before={textOf(own(members, name))} after={text} />
        </div>
      ))}
    </>
  );
}
