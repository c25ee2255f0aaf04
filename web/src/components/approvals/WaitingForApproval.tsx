import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { UserCheck } from "lucide-react";
import { approvalsOfRunQuery } from "@/api/queries/approvals";
import { buttonLook } from "@/components/ui";
import { visible } from "@/lib/visible";
import { useApprovalTexts } from "./texts";
import { useDeciders } from "./useDeciders";

/** The approvals that a run waits for: what is asked, who can decide, and the way there. */
export function WaitingForApproval({ runId }: { runId: string }) {
  const t = useApprovalTexts();
  const deciders = useDeciders();
  const { data } = useQuery(approvalsOfRunQuery(runId));
  if (!data || data.length === 0) return null;
  return (
    <ul aria-label={t("waiting")} className="flex flex-col gap-2">
      {data.map((approval) => (
        <li
          key={approval.id}
          className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md border border-info/25 bg-info-soft px-3 py-2.5 text-sm"
        >
          <UserCheck aria-hidden className="size-4 shrink-0 self-start text-info" />
          <div className="min-w-0 flex-1 basis-48">
            <p className="font-medium text-info">{t("waiting")}</p>
            <p className="line-clamp-3 break-words">{visible(approval.question)}</p>
            <p className="mt-0.5 text-xs text-muted">{t("who", { who: deciders(approval) })}</p>
          </div>
          <Link to="/inbox/{-$approvalId}" params={{ approvalId: approval.id }} className={buttonLook()}>
            {t(approval.can_decide ? "review" : "view")}
          </Link>
        </li>
      ))}
    </ul>
  );
}
