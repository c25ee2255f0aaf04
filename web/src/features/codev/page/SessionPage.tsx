import { Link, useParams } from "@tanstack/react-router";
import { Hammer } from "lucide-react";
import { ApiError } from "@/api/problem";
import type { CodevSession } from "@/api/queries/codev";
import { Callout, EmptyState, Problem, Skeleton } from "@/components/ui";
import { useTitle } from "@/lib/title";
import { WaitingCard } from "../cards/WaitingCard";
import { planBefore } from "../model/history";
import { isOver, type LiveSession } from "../model/session";
import { useSession } from "../model/useSession";
import { START_LINK } from "../start/startLink";
import { useCodevTexts } from "../texts";
import { Ended } from "./Ended";
import { Known } from "./Known";
import { Log } from "./Log";
import { Now } from "./Now";
import { SessionHeader } from "./SessionHeader";
import { Track } from "./Track";

/** One session: how it stands, what it waits for or does, and how it came to that. */
export function SessionPage() {
  const { sessionId } = useParams({ from: "/inside/develop/$sessionId" });
  return <Followed key={sessionId} id={sessionId} />;
}

function Followed({ id }: { id: string }) {
  const t = useCodevTexts();
  const { session, live, connection, error } = useSession(id);
  useTitle(session ? `${t(`status_${live?.status ?? session.status}`)}: ${session.requirement.slice(0, 60)}` : "");
  // What is not there any more is not shown as if it were; what cannot be asked just now is.
  if (error && (!session || (error instanceof ApiError && !error.passing))) return <NotShown error={error} />;
  if (!session || !live) return <Coming />;
  return <Shown session={session} live={live} lost={connection === "reconnecting"} />;
}

interface ShownProps {
  session: CodevSession;
  live: LiveSession;
  lost: boolean;
}

function Shown({ session, live, lost }: ShownProps) {
  const t = useCodevTexts();
  return (
    <div className="mx-auto flex w-full max-w-7xl flex-col gap-4 px-4 py-4 sm:px-6">
      <SessionHeader session={session} live={live} />
      <Track live={live} />
      {lost && <Callout tone="warn">{t("reconnecting")}</Callout>}
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(20rem,26rem)]">
        <div className="flex min-w-0 flex-col gap-4">
          {live.interrupt && (
            <WaitingCard
              key={live.interrupt.id}
              session={session}
              interrupt={live.interrupt}
              before={planBefore(live.entries, live.interrupt)}
            />
          )}
          {live.status === "in_progress" && <Now live={live} />}
          {isOver(live.status) && <Ended session={session} live={live} />}
          <Known session={session} live={live} />
        </div>
        <Log entries={live.entries} working={live.status === "in_progress"} coming={live.seen < live.asOf} />
      </div>
    </div>
  );
}

/** No session to show: that there is none is no fault, and there is a way on. */
function NotShown({ error }: { error: unknown }) {
  const t = useCodevTexts();
  const back = (
    <Link to="/develop" className={START_LINK}>
      {t("to_sessions")}
    </Link>
  );
  if (error instanceof ApiError && error.status === 404) {
    return (
      <EmptyState icon={<Hammer />} title={t("no_session")} action={back}>
        {t("no_session_more")}
      </EmptyState>
    );
  }
  return (
    <div className="mx-auto flex max-w-2xl flex-col items-start gap-4 p-6">
      <Problem error={error} />
      {back}
    </div>
  );
}

function Coming() {
  return (
    <div className="mx-auto flex w-full max-w-7xl flex-col gap-4 px-4 py-4 sm:px-6">
      <Skeleton className="h-20" />
      <Skeleton className="h-12" />
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_26rem]">
        <Skeleton className="h-72" />
        <Skeleton className="h-72" />
      </div>
    </div>
  );
}
