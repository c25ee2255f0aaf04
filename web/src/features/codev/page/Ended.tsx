import { Link } from "@tanstack/react-router";
import { isOfModel } from "@/api/modelProblems";
import type { CodevSession } from "@/api/queries/codev";
import { useRights } from "@/api/rights";
import { Callout, Words } from "@/components/ui";
import { allTakenBack, readWrites } from "../model/known";
import type { LiveSession } from "../model/session";
import { stopWords } from "../model/stopWords";
import { useCodevTexts } from "../texts";
import { ConnectProvider } from "./ConnectProvider";
import { Continue } from "./Continue";
import { PlaceLink } from "./PlaceLink";
import { useFocusWhenLost } from "./useFocusWhenLost";
import { useRetry } from "./useStop";

const TONES = { completed: "ok", stopped: "warn", error: "bad" } as const;

/** How the session ended, and what can be done now. */
export function Ended({ session, live }: { session: CodevSession; live: LiveSession }) {
  const t = useCodevTexts();
  const here = useFocusWhenLost<HTMLElement>();
  const retry = useRetry(session.thread_id);
  const { may } = useRights();
  const edits = may("flows.edit", session.space_id);
  // A next session on the same flow, where it is one of ours.
  const anew =
    session.domain === "headgate" ? (session.flow_id ? { flow: session.flow_id } : {}) : { domain: session.domain };
  const status = live.status as keyof typeof TONES;
  const failed = live.entries.findLast((one) => one.kind === "error");
  const noModel = status === "error" && failed?.kind === "error" && isOfModel(failed.about);
  const takenBack = allTakenBack(readWrites(session.state?.writes));
  return (
    <section ref={here} tabIndex={-1} aria-label={t(`ended_${status}`)} className="outline-none">
      <Callout tone={takenBack ? "warn" : (TONES[status] ?? "warn")} title={t(`ended_${status}`)}>
        <p>
          <Words>{stopWords(t, live.stopReason, { takenBack }) || t(`ended_${status}_more`)}</Words>
        </p>
        {takenBack && <p className="font-medium">{t(session.flow_id ? "ended_as_before" : "ended_removed")}</p>}
        {edits && session.can_go_on && (
          <div className="mt-3">
            <Continue key={session.model} session={session} />
          </div>
        )}
        <div className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-2">
          {edits && noModel && <ConnectProvider kind="primary" onDone={() => retry.mutate({})} />}
          <PlaceLink link={session.link}>{t("open_flow")}</PlaceLink>
          {edits && (
            <Link to="/develop/new" search={anew} className="font-medium text-accent hover:underline">
              {t("again")}
            </Link>
          )}
        </div>
      </Callout>
    </section>
  );
}
