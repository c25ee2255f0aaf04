import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { errorHandlerQuery } from "@/api/queries/runs";
import type { HandlerLinkOut } from "@/api/types";
import { Callout } from "@/components/ui";
import { isOver, type LiveRun } from "../model/live";
import { useRunTexts } from "../texts";

/** The run that handles the failure of this one, and the failed run that this one was started for. */
export function ErrorHandler({ live }: { live: LiveRun }) {
  const t = useRunTexts();
  const { data } = useQuery(errorHandlerQuery(live.id, isOver(live.status)));
  const { handler, handles } = data ?? {};
  return (
    <>
      {handles && <Callout tone="info">{<Other words={t("handles_failure")} other={handles} />}</Callout>}
      {handler && (
        <Callout tone={handler.status === "refused" ? "warn" : "info"}>
          {handler.status === "refused" ? (
            t("handler_refused", { problem: handler.problem ?? "" })
          ) : (
            <Other words={t(handler.status === "due" ? "handler_due" : "handler_started")} other={handler} />
          )}
        </Callout>
      )}
    </>
  );
}

function Other({ words, other }: { words: string; other: HandlerLinkOut }) {
  const t = useRunTexts();
  return (
    <>
      {words}{" "}
      {other.flow_id && (
        <Link
          to="/flows/$flowId/runs/$runId"
          params={{ flowId: other.flow_id, runId: other.run_id }}
          className="font-medium underline"
        >
          {t("open_run")}
        </Link>
      )}
    </>
  );
}
