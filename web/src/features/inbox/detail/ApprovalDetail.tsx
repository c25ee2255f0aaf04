import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { type Approval, approvalQuery, approvalsQuery, type InboxFilter } from "@/api/queries/approvals";
import { Callout, Problem, Skeleton } from "@/components/ui";
import { useTitle } from "@/lib/title";
import { type Edits, realEdits } from "../model/edits";
import { questionOf } from "../model/question";
import { useInboxTexts } from "../texts";
import { About } from "./About";
import { DecisionForm } from "./DecisionForm";
import { Decisions } from "./Decisions";
import { Outcome } from "./Outcome";
import { OutsideLinks } from "./OutsideLinks";
import { ShownValue } from "./ShownValue";
import { conflictOf, useDecide } from "./useDecide";

/** One approval: what will be sent or done, and the decision on it. */
export function ApprovalDetail({ id, filter }: { id: string; filter: InboxFilter }) {
  const t = useInboxTexts();
  const { data, error, refetch } = useQuery(approvalQuery(id));
  return (
    <article className="mx-auto flex w-full max-w-3xl flex-col gap-4 px-4 py-5 sm:px-6">
      <Link
        to="/inbox/{-$approvalId}"
        params={{ approvalId: undefined }}
        search={{ show: filter }}
        className="inline-flex items-center gap-1 self-start text-sm text-muted hover:text-ink lg:hidden"
      >
        <ArrowLeft aria-hidden className="size-3.5" />
        {t("back")}
      </Link>
      {error && !data && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-80" />}
      {data && <Shown approval={data} filter={filter} />}
    </article>
  );
}

function Shown({ approval, filter }: { approval: Approval; filter: InboxFilter }) {
  const t = useInboxTexts();
  const decide = useDecide(approval);
  const [edits, setEdits] = useState<Edits>({});
  const conflict = conflictOf(decide.error);
  useTitle(questionOf(t, approval).slice(0, 80));
  const shown = approval.tool ? "shown_arguments" : "shown";
  const changed = realEdits(approval.value, edits);
  return (
    <>
      <About approval={approval} />
      {conflict && (
        <Callout tone="bad" title={t("conflict")}>
          {t(conflict)}
        </Callout>
      )}
      {decide.error && !conflict && <Problem error={decide.error} />}
      <Outcome approval={approval} stored={decide.isSuccess} next={<Next filter={filter} after={approval.id} />} />
      <section aria-label={t(shown)} className="flex flex-col gap-2">
        <h3 className="text-sm font-medium text-muted">{t(shown)}</h3>
        <ShownValue approval={approval} edits={edits} onEdit={approval.can_decide ? setEdits : undefined} />
      </section>
      {approval.can_decide && (
        <DecisionForm
          approval={approval}
          edits={changed}
          busy={decide.isPending}
          onDecide={(body) => decide.mutate(body)}
        />
      )}
      {approval.status === "pending" && <OutsideLinks approval={approval} />}
      <Decisions approval={approval} />
    </>
  );
}

/** The way to the next approval that waits for the user. */
function Next({ filter, after }: { filter: InboxFilter; after: string }) {
  const t = useInboxTexts();
  const { data } = useInfiniteQuery(approvalsQuery("mine"));
  const next = data?.pages.flatMap((page) => page.items).find(({ id }) => id !== after);
  if (!next) return null;
  return (
    <Link
      to="/inbox/{-$approvalId}"
      params={{ approvalId: next.id }}
      search={{ show: filter }}
      className="shrink-0 font-medium text-accent hover:underline"
    >
      {t("next")}
    </Link>
  );
}
