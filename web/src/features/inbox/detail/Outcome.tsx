import { type ReactNode, useEffect, useRef } from "react";
import type { Approval } from "@/api/queries/approvals";
import { Callout } from "@/components/ui";
import { useInboxTexts } from "../texts";

const LOOKS = { approved: "ok", rejected: "bad", timed_out: "warn", closed: "info" } as const;

interface OutcomeProps {
  approval: Approval;
  /** Whether the user has just decided: the outcome then has the focus, since the form is gone. */
  stored: boolean;
  next: ReactNode;
}

/** What became of the approval, or why the user may not decide it. */
export function Outcome({ approval, stored, next }: OutcomeProps) {
  const t = useInboxTexts();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (stored) place.current?.focus();
  }, [stored]);
  const { status, refusal } = approval;
  if (refusal === null) return null;
  const over = status !== "pending";
  return (
    <div ref={place} tabIndex={-1} className="rounded-md">
      <Callout
        tone={over ? LOOKS[status] : "info"}
        title={over ? t(`result_${status}`) : t(`refused_${refusal === "over" ? "timed_out" : refusal}`)}
        action={stored ? next : undefined}
      />
    </div>
  );
}
