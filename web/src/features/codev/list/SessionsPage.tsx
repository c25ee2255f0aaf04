import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { type CodevSession, codevSessionsQuery } from "@/api/queries/codev";
import { codevWaitingQuery } from "@/api/queries/waitingCounts";
import { useRights } from "@/api/rights";
import { Page } from "@/components/page";
import { Button, Problem, Skeleton } from "@/components/ui";
import { DeleteSession } from "../page/DeleteSession";
import { START_LINK } from "../start/startLink";
import { useCodevTexts } from "../texts";
import { SessionRow } from "./SessionRow";
import { Welcome } from "./Welcome";

/** Every development session, those that wait for somebody on top. */
export function SessionsPage() {
  const t = useCodevTexts();
  const starts = useRights().may("flows.edit");
  const waiting = useQuery(codevWaitingQuery).data ?? [];
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } =
    useInfiniteQuery(codevSessionsQuery);
  const [deleting, setDeleting] = useState<CodevSession | null>(null);
  const sessions = data?.pages.flatMap((page) => page.items) ?? [];
  const onTop = new Map(
    [...waiting, ...sessions].filter((one) => one.status === "pending_interrupt").map((one) => [one.thread_id, one]),
  );
  const others = sessions.filter((one) => !onTop.has(one.thread_id));
  const empty = data !== undefined && sessions.length === 0 && onTop.size === 0;
  return (
    <Page
      title={t("development")}
      about={!empty && t("development_about")}
      actions={
        !empty &&
        starts && (
          <Link to="/develop/new" className={START_LINK}>
            <Plus aria-hidden className="size-4" />
            {t("new_session")}
          </Link>
        )
      }
    >
      {error && <Problem error={error} retry={() => void refetch()} />}
      {isPending && <Waiting />}
      {empty && <Welcome />}
      <Group title={t("waiting_for_you")} sessions={[...onTop.values()]} onDelete={setDeleting} />
      <Group title={onTop.size > 0 ? t("others") : t("sessions")} sessions={others} onDelete={setDeleting} />
      {hasNextPage && (
        <Button className="self-center" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t("more")}
        </Button>
      )}
      {deleting && <DeleteSession session={deleting} onClose={() => setDeleting(null)} />}
    </Page>
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

interface GroupProps {
  title: string;
  sessions: CodevSession[];
  onDelete: (session: CodevSession) => void;
}

function Group({ title, sessions, onDelete }: GroupProps) {
  if (sessions.length === 0) return null;
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h2 className="text-sm font-medium text-muted">{title}</h2>
      <ul aria-label={title} className="divide-y divide-line rounded-lg border border-line bg-surface">
        {sessions.map((session) => (
          <SessionRow key={session.thread_id} session={session} onDelete={() => onDelete(session)} />
        ))}
      </ul>
    </section>
  );
}
