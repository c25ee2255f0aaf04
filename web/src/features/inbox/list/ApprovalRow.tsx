import { Link } from "@tanstack/react-router";
import type { ApprovalSummary, InboxFilter } from "@/api/queries/approvals";
import { Checkbox, cx } from "@/components/ui";
import { ago, dateTime } from "@/lib/i18n/format";
import { shortened } from "@/lib/shortened";
import { Due, StatusChip } from "../marks";
import { questionOf } from "../model/question";
import { useInboxTexts } from "../texts";

interface ApprovalRowProps {
  approval: ApprovalSummary;
  filter: InboxFilter;
  open: boolean;
  marked: boolean;
  onMark: () => void;
}

/** An approval in the list: what is asked, by which flow, who started the run, and until when. */
export function ApprovalRow({ approval, filter, open, marked, onMark }: ApprovalRowProps) {
  const t = useInboxTexts();
  const question = questionOf(t, approval);
  const starter = approval.starter_name || t("started_by_visitor");
  return (
    <li className={cx("flex items-start", open && "bg-accent-soft")}>
      {filter !== "decided" && (
        <span className="flex w-9 shrink-0 justify-end pt-3.5">
          {approval.can_decide && (
            <Checkbox
              checked={marked}
              onChange={onMark}
              aria-label={t("select", { question: shortened(question, 80) })}
            />
          )}
        </span>
      )}
      <Link
        to="/inbox/{-$approvalId}"
        params={{ approvalId: approval.id }}
        search={{ show: filter }}
        aria-current={open ? "true" : undefined}
        className="flex min-w-0 flex-1 flex-col gap-0.5 px-3 py-2.5 hover:bg-hover"
      >
        <span className="line-clamp-2 break-words font-medium">{question}</span>
        <span className="truncate text-sm text-muted">
          {approval.flow_name} · {t("started_by", { name: starter })}
        </span>
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
          <StatusChip approval={approval} />
          <Due approval={approval} />
          <time dateTime={approval.created_at} title={dateTime(approval.created_at)}>
            {t("asked", { when: ago(approval.created_at) })}
          </time>
        </span>
      </Link>
    </li>
  );
}
