import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Inbox } from "lucide-react";
import { useState } from "react";
import { type ApprovalSummary, approvalsQuery, type InboxFilter } from "@/api/queries/approvals";
import { Button, buttonLook, EmptyState, Problem, Skeleton } from "@/components/ui";
import { useInboxTexts } from "../texts";
import { ApprovalRow } from "./ApprovalRow";
import { BulkBar } from "./BulkBar";

interface ApprovalListProps {
  filter: InboxFilter;
  /** The open approval. */
  selected: string | undefined;
}

/** Approvals of one filter; those that the user may decide can be selected to decide them together. */
export function ApprovalList({ filter, selected }: ApprovalListProps) {
  const t = useInboxTexts();
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = useInfiniteQuery(
    approvalsQuery(filter),
  );
  const approvals = data?.pages.flatMap((page) => page.items) ?? [];
  const chosen = approvals.filter((approval) => approval.can_decide && marked.has(approval.id));
  const mark = ({ id }: ApprovalSummary) => {
    const next = new Set(marked);
    if (!next.delete(id)) next.add(id);
    setMarked(next);
  };
  return (
    <>
      <div className="min-h-0 flex-1 overflow-y-auto px-4 pb-4">
        {error && <Problem error={error} retry={() => void refetch()} />}
        {isPending && <Waiting />}
        {data && approvals.length === 0 && <Nothing filter={filter} />}
        {approvals.length > 0 && (
          <ul
            aria-label={t(filter)}
            className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface"
          >
            {approvals.map((approval) => (
              <ApprovalRow
                key={approval.id}
                approval={approval}
                filter={filter}
                open={approval.id === selected}
                marked={marked.has(approval.id)}
                onMark={() => mark(approval)}
              />
            ))}
          </ul>
        )}
        {hasNextPage && (
          <Button className="mx-auto mt-3 flex" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {t("more")}
          </Button>
        )}
      </div>
      {filter !== "decided" && <BulkBar chosen={chosen} onClear={() => setMarked(new Set())} />}
    </>
  );
}

function Waiting() {
  return (
    <div className="flex flex-col gap-2">
      <Skeleton className="h-18" />
      <Skeleton className="h-18" />
      <Skeleton className="h-18" />
    </div>
  );
}

/** Nothing in the list: what this place is for, and the way to where it begins. */
function Nothing({ filter }: { filter: InboxFilter }) {
  const t = useInboxTexts();
  return (
    <EmptyState
      icon={<Inbox />}
      title={t(`none_${filter}`)}
      action={
        filter === "mine" && (
          <Link to="/" className={buttonLook()}>
            {t("to_flows")}
          </Link>
        )
      }
    >
      {t(`none_${filter}_more`)}
    </EmptyState>
  );
}
