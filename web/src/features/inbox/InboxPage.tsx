import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { MousePointerClick } from "lucide-react";
import { approvalsQuery, INBOX_FILTERS, type InboxFilter } from "@/api/queries/approvals";
import { approvalCountQuery } from "@/api/queries/waitingCounts";
import { cx, Segments } from "@/components/ui";
import { ApprovalDetail } from "./detail/ApprovalDetail";
import { ApprovalList } from "./list/ApprovalList";
import { useInboxTexts } from "./texts";

const isFilter = (value: string | undefined): value is InboxFilter => INBOX_FILTERS.includes(value as InboxFilter);

/** Approvals that runs wait for: the list, and next to it the one that is open; one of both on a narrow screen. */
export function InboxPage() {
  const t = useInboxTexts();
  const navigate = useNavigate();
  const { approvalId } = useParams({ from: "/inside/inbox/{-$approvalId}" });
  const { show } = useSearch({ from: "/inside/inbox/{-$approvalId}" });
  const filter: InboxFilter = isFilter(show) ? show : "mine";
  const { data: count = 0 } = useQuery(approvalCountQuery);
  const { data } = useInfiniteQuery(approvalsQuery(filter));
  const empty = data?.pages.every((page) => page.items.length === 0) ?? false;
  const labels = {
    mine: count > 0 ? `${t("mine")} (${count})` : t("mine"),
    waiting: t("waiting"),
    decided: t("decided"),
  };
  return (
    <div className="flex h-full min-h-0">
      <div
        className={cx(
          "flex min-h-0 min-w-0 flex-1 flex-col",
          (approvalId || !empty) && "lg:w-96 lg:flex-none lg:border-r lg:border-line",
          approvalId && "hidden lg:flex",
        )}
      >
        <header className="flex shrink-0 flex-col gap-3 px-4 pt-5 pb-3">
          <div>
            <h1 className="text-2xl font-semibold">{t("inbox")}</h1>
            <p className="mt-0.5 text-sm text-muted">{t("about")}</p>
          </div>
          <div className="flex">
            <Segments
              size="sm"
              aria-label={t("filter")}
              value={filter}
              options={INBOX_FILTERS.map((value) => ({ value, label: labels[value] }))}
              onChange={(next) =>
                void navigate({
                  to: "/inbox/{-$approvalId}",
                  params: { approvalId },
                  search: { show: next },
                  replace: true,
                })
              }
            />
          </div>
        </header>
        <ApprovalList key={filter} filter={filter} selected={approvalId} />
      </div>
      {approvalId ? (
        <div className="min-h-0 min-w-0 flex-1 overflow-y-auto">
          <ApprovalDetail key={approvalId} id={approvalId} filter={filter} />
        </div>
      ) : (
        !empty && (
          <div className="hidden flex-1 items-center justify-center text-muted lg:flex">
            <p className="flex items-center gap-2">
              <MousePointerClick aria-hidden className="size-4" />
              {t("nothing_open")}
            </p>
          </div>
        )
      )}
    </div>
  );
}
