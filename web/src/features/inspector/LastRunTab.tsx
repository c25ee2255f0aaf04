import { Link } from "@tanstack/react-router";
import { History, Play } from "lucide-react";
import { Button, Callout, EmptyState, StateChip } from "@/components/ui";
import { staleIn, useDraft } from "@/lib/draft";
import { duration, number } from "@/lib/i18n/format";
import { useRequests } from "@/lib/requests";
import { OutputData } from "./OutputData";
import { useInspectorTexts } from "./texts";

/** What the node did in the run that is shown. */
export function LastRunTab({ nodeId }: { nodeId: string }) {
  const t = useInspectorTexts();
  const run = useDraft((state) => state.nodeRuns[nodeId]);
  const shown = useDraft((state) => state.shownRun);
  const stale = useDraft((state) => staleIn(state).has(nodeId));
  const flowId = useDraft((state) => state.flowId);
  const editable = useDraft((state) => state.editable);
  // One node alone is a run of the draft.
  const again = editable && (
    <Button icon={<Play />} onClick={() => useRequests.getState().requestRun("node", nodeId)}>
      {t("run_it")}
    </Button>
  );
  if (!run) {
    return (
      <EmptyState icon={<History />} title={t("last_run")} action={again}>
        {t("no_run")}
      </EmptyState>
    );
  }
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3 text-muted text-sm">
        <StateChip state={run.status} label={t(`state_${run.status}`)} />
        {run.ms !== null && (
          <span>
            {t("took")} {duration(run.ms)}
          </span>
        )}
        {run.tokens !== null && (
          <span>
            {number(run.tokens)} {t("tokens").toLowerCase()}
          </span>
        )}
      </div>
      {stale && (
        <Callout tone="info" title={t("outdated")}>
          {t("outdated_more")}
        </Callout>
      )}
      {run.error && (
        <Callout tone="bad" title={t("went_wrong")}>
          {run.error}
        </Callout>
      )}
      {shown && <OutputData runId={shown.id} nodeId={nodeId} run={run} />}
      <div className="flex flex-wrap items-center gap-3">
        {again}
        {shown && (
          <Link
            to="/flows/$flowId/runs/$runId"
            params={{ flowId, runId: shown.id }}
            search={{ step: nodeId, compare: undefined }}
            className="font-medium text-accent text-sm hover:underline"
          >
            {t("see_run")}
          </Link>
        )}
      </div>
    </div>
  );
}
