import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ListRestart } from "lucide-react";
import { useState } from "react";
import { useRights } from "@/api/rights";
import type { RunOut } from "@/api/types";
import { WaitingForApproval } from "@/components/approvals";
import { WaitingForEvents } from "@/components/events";
import { Button, Callout, Problem, Skeleton, Tabs } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { DeliveriesFailed, RunDeliveries } from "../deliveries/RunDeliveries";
import { inOrder, isOver, type LiveRun, waitsForApproval } from "../model/live";
import { startingStep } from "../model/startingStep";
import { useNames } from "../model/useNames";
import { useRerunnable } from "../model/useRerunnable";
import { useRun } from "../model/useRun";
import { RunResult } from "../panel/RunNow";
import { Stopped } from "../panel/Stopped";
import { RunFailed } from "../step/RunFailed";
import { StepList } from "../step/StepList";
import { StepView } from "../step/StepView";
import { useRunTexts } from "../texts";
import { CompareRuns } from "./CompareRuns";
import { ErrorHandler } from "./ErrorHandler";
import { GivenValues } from "./GivenValues";
import { Replay } from "./Replay";
import { RerunDialog } from "./RerunDialog";
import { RunHeader } from "./RunHeader";
import { RunLimits } from "./RunLimits";
import { StartedBy } from "./StartedBy";
import { Timeline } from "./Timeline";

/** One run: what came of it, its steps in time, each step, and what can be done with it. */
export function RunPage() {
  const { flowId, runId } = useParams({ from: "/inside/flows/$flowId/runs/$runId" });
  const followed = useRun(runId);
  if (followed.error && !followed.run) {
    return (
      <div className="mx-auto max-w-2xl p-6">
        <Problem error={followed.error} />
      </div>
    );
  }
  if (!followed.run || !followed.live) return <Skeleton className="m-6 h-96" />;
  return (
    <ShownRun
      key={runId}
      flowId={flowId}
      run={followed.run}
      live={followed.live}
      lost={followed.connection === "reconnecting"}
    />
  );
}

interface ShownRunProps {
  flowId: string;
  run: RunOut;
  live: LiveRun;
  lost: boolean;
}

type Tab = "result" | "timeline" | "picture" | "input" | "deliveries";

function ShownRun({ flowId, run, live, lost }: ShownRunProps) {
  const t = useRunTexts();
  const navigate = useNavigate();
  const again = useRerunnable(run);
  const { may } = useRights();
  const spaceId = useDraft((state) => state.spaceId);
  const { step: asked, compare } = useSearch({ from: "/inside/flows/$flowId/runs/$runId" });
  const step = asked ?? startingStep(live);
  const [tab, setTab] = useState<Tab>("timeline");
  const [rerun, setRerun] = useState<{ from: string | null } | null>(null);
  const params = { flowId, runId: run.id };
  const go = (search: { step?: string | undefined; compare?: string | undefined }) =>
    void navigate({ to: "/flows/$flowId/runs/$runId", params, search, replace: true });
  const select = (id: string) => go({ step: id, compare });
  const names = useNames(Object.values(live.steps));
  const chosen = step ? live.steps[step] : undefined;
  return (
    <div className="mx-auto flex w-full max-w-7xl flex-col gap-4 px-4 py-4 sm:px-6">
      <RunHeader
        flowId={flowId}
        run={run}
        live={live}
        onRerun={() => setRerun({ from: asked ?? null })}
        onCompare={(id) => go({ compare: id })}
      />
      {lost && <Callout tone="warn">{t("reconnecting")}</Callout>}
      {live.status === "failed" && <RunFailed live={live} />}
      {run.parent_run_id && <StartedBy runId={run.id} />}
      <ErrorHandler live={live} />
      <RunLimits live={live} />
      <Stopped live={live} />
      {waitsForApproval(live) && <WaitingForApproval runId={run.id} />}
      {live.status === "waiting" && <WaitingForEvents runId={run.id} maySend={may("runs.start", spaceId)} />}
      <DeliveriesFailed
        run={run}
        onShow={() => {
          setTab("deliveries");
          if (compare) go({ step });
        }}
      />
      {compare ? (
        <CompareRuns mine={run} otherId={compare} onEnd={() => go({ step })} />
      ) : (
        <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(22rem,28rem)]">
          <div className="flex min-w-0 flex-col gap-4">
            <Tabs
              aria-label={t("details")}
              className="overflow-hidden rounded-lg border border-line bg-surface"
              value={tab}
              onChange={setTab}
              tabs={[
                {
                  value: "timeline",
                  label: t("timeline"),
                  content: <Timeline run={run} live={live} selected={step} onSelect={select} />,
                },
                {
                  value: "picture",
                  label: t("picture"),
                  content: <Replay run={run} live={live} selected={step} onSelect={select} />,
                },
                {
                  value: "result",
                  label: t("result"),
                  content: (
                    <div className="p-4">
                      <RunResult run={run} />
                    </div>
                  ),
                },
                { value: "input", label: t("input"), content: <GivenInput run={run} /> },
                {
                  value: "deliveries",
                  label: t("deliveries"),
                  content: (
                    <div className="p-4">
                      <RunDeliveries run={run} />
                    </div>
                  ),
                },
              ]}
            />
          </div>
          <aside aria-label={t("step")} className="flex min-w-0 flex-col gap-3">
            <div className="max-h-72 overflow-y-auto rounded-lg border border-line bg-surface p-1.5">
              <StepList steps={inOrder(live)} selected={step} onSelect={select} />
            </div>
            <div className="rounded-lg border border-line bg-surface p-4">
              {chosen ? (
                <>
                  <div className="mb-3 flex items-center gap-2">
                    <h3 className="min-w-0 truncate font-semibold">{names[chosen.id]}</h3>
                    {isOver(live.status) && again && (
                      <Button
                        size="sm"
                        className="ml-auto"
                        icon={<ListRestart />}
                        onClick={() => setRerun({ from: chosen.id })}
                      >
                        {t("rerun_from")}
                      </Button>
                    )}
                  </div>
                  <StepView key={chosen.id} runId={run.id} live={chosen} />
                </>
              ) : (
                <p className="text-sm text-muted">{t("choose_step")}</p>
              )}
            </div>
          </aside>
        </div>
      )}
      {rerun && <RerunDialog run={run} from={rerun.from} onClose={() => setRerun(null)} />}
    </div>
  );
}

function GivenInput({ run }: { run: RunOut }) {
  return (
    <div className="p-4">
      <GivenValues run={run} />
    </div>
  );
}
