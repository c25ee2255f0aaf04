import { Check, X } from "lucide-react";
import { useState } from "react";
import type { Approval, decideApproval } from "@/api/queries/approvals";
import { AnswerField, answersOf, type Fault, faultOf, type Given } from "@/components/answers";
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

type Decision = "approve" | "reject";

/** What is wrong with the answers; a rejection may leave required ones out. */
function faultsOf(form: Approval["questions"], given: Record<string, Given>, decision: Decision) {
  const faults: Record<string, Fault> = {};
  for (const field of form) {
    const fault = faultOf(decision === "reject" ? { ...field, required: false } : field, own(given, field.id));
    if (fault) faults[field.id] = fault;
  }
  return faults;
}

/** The form of the approval, a comment, and the two buttons. */
export function DecisionForm({ approval, edits, busy, onDecide }: DecisionFormProps) {
  const t = useInboxTexts();
  const [given, setGiven] = useState<Record<string, Given>>({});
  const [tried, setTried] = useState<Decision | null>(null);
  const [comment, setComment] = useState("");
  const changed = Object.keys(edits).length > 0;
  const members = membersOf(approval.value);
  const faulty = Object.entries(edits).some(([name, text]) => isFaulty(own(members, name), text));
  const faults = tried ? faultsOf(approval.questions, given, tried) : {};
  const decide = (decision: Decision) => {
    setTried(decision);
    if (Object.keys(faultsOf(approval.questions, given, decision)).length > 0) return;
    const answers = answersOf(approval.questions, given);
    onDecide({ decision, comment, answers, edits: decision === "approve" ? edits : {} });
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={(event) => event.preventDefault()}>
      {approval.questions.map((field) => (
        <AnswerField
          key={field.id}
          field={field}
          value={own(given, field.id)}
          fault={own(faults, field.id)}
          onChange={(answer) => setGiven({ ...given, [field.id]: answer })}
        />
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
          onClick={() => decide("approve")}
        >
          {t(changed ? "approve_changed" : "approve")}
        </Button>
        <Button
          kind="danger"
          size="lg"
          className="flex-1 sm:flex-none"
          icon={<X />}
          disabled={busy}
          onClick={() => decide("reject")}
        >
          {t("reject")}
        </Button>
      </div>
    </form>
  );
}
