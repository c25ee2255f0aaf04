import { Check, X } from "lucide-react";
import { useState } from "react";
import type { Approval, decideApproval } from "@/api/queries/approvals";
import { Button, Field, Textarea } from "@/components/ui";
import { own } from "@/lib/own";
import { isFaulty, membersOf } from "../model/edits";
import { useInboxTexts } from "../texts";

interface DecisionFormProps {
  approval: Pick<Approval, "value" | "questions">;
  /** Changed members of the value. */
  edits: Record<string, string>;
  busy: boolean;
  onDecide: (body: Parameters<typeof decideApproval>[1]) => void;
}

/** The questions of the approval, a comment, and the two buttons. */
export function DecisionForm({ approval, edits, busy, onDecide }: DecisionFormProps) {
  const t = useInboxTexts();
  const [answers, setAnswers] = useState<Record<string, string>>({});
  const [comment, setComment] = useState("");
  const changed = Object.keys(edits).length > 0;
  const members = membersOf(approval.value);
  const faulty = Object.entries(edits).some(([name, text]) => isFaulty(own(members, name), text));
  const given = Object.fromEntries(Object.entries(answers).filter(([, answer]) => answer.trim() !== ""));
  return (
    <form className="flex flex-col gap-4" onSubmit={(event) => event.preventDefault()}>
      {approval.questions.map((question) => (
        <Field key={question} label={question}>
          {(control) => (
            <Textarea
              {...control}
              value={own(answers, question) ?? ""}
              onChange={(event) => setAnswers({ ...answers, [question]: event.target.value })}
            />
          )}
        </Field>
      ))}
      <Field label={t("comment")} help={t("comment_help")}>
        {(control) => (
          <Textarea
            {...control}
            maxLength={10_000}
            value={comment}
            onChange={(event) => setComment(event.target.value)}
          />
        )}
      </Field>
      <div className="flex gap-2">
        <Button
          kind="primary"
          size="lg"
          className="flex-1 sm:flex-none"
          icon={<Check />}
          busy={busy}
          disabled={faulty}
          onClick={() => onDecide({ decision: "approve", comment, answers: given, edits })}
        >
          {t(changed ? "approve_changed" : "approve")}
        </Button>
        <Button
          kind="danger"
          size="lg"
          className="flex-1 sm:flex-none"
          icon={<X />}
          disabled={busy}
          onClick={() => onDecide({ decision: "reject", comment, answers: given, edits: {} })}
        >
          {t("reject")}
        </Button>
      </div>
    </form>
  );
}
