import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Square } from "lucide-react";
import { meQuery } from "@/api/queries/me";
import { mayIn } from "@/api/rights";
import { WaitingForApproval } from "@/components/approvals";
import { Markdown } from "@/components/markdown/Markdown";
import { Button, Callout, CopyButton } from "@/components/ui";
import { ValueView } from "@/components/values/ValueView";
import { useDraft } from "@/lib/draft";
import { inOrder, isOver, waitsForApproval } from "../model/live";
import { partWords } from "../model/partWords";
import { useNames } from "../model/useNames";
import type { FollowedRun } from "../model/useRun";
import { RunFailed } from "../step/RunFailed";
import { StepList } from "../step/StepList";
import { useRunTexts } from "../texts";
import { PauseButton } from "./PauseButton";
import { RunFigures } from "./RunFigures";
import { Stopped } from "./Stopped";
import { useCancel } from "./useCancel";

interface RunNowProps {
  followed: FollowedRun;
  onStep: (stepId: string) => void;
}

/** The run that was started here: where it is, what its model says, what came of it. */
export function RunNow({ followed, onStep }: RunNowProps) {
  const t = useRunTexts();
  const cancel = useCancel();
  const { data: me } = useQuery(meQuery);
  const spaceId = useDraft((state) => state.spaceId);
  const { run, live, connection } = followed;
  const names = useNames(Object.values(live?.steps ?? {}));
  if (!live) return null;
  const over = isOver(live.status);
  const speaking = live.speaking ? live.steps[live.speaking] : undefined;
  return (
    <section aria-label={t("result")} className="flex flex-col gap-3">
      <div className="flex items-center gap-2">
        <div className="min-w-0 flex-1">
          <RunFigures live={live} />
        </div>
        {!over && <PauseButton live={live} small />}
        {!over && (
          <Button
            size="sm"
            kind="danger"
            icon={<Square />}
            busy={cancel.isPending}
            onClick={() => cancel.mutate(live.id)}
          >
            {t("stop")}
          </Button>
        )}
      </div>
      {run?.part && <p className="text-xs text-muted">{partWords(run, t, names)}</p>}
      {connection === "reconnecting" && <Callout tone="warn">{t("reconnecting")}</Callout>}
      {live.status === "paused" && <Callout tone="warn">{t("paused_help")}</Callout>}
      {live.status === "failed" && <RunFailed live={live} />}
      <Stopped live={live} />
      {waitsForApproval(live) && <WaitingForApproval runId={live.id} />}
      {!over && speaking && speaking.status === "running" && speaking.preview && (
        <div aria-live="off" className="max-h-80 overflow-y-auto rounded-md bg-sunken px-3 py-2">
          <p className="mb-1 text-xs text-muted">{names[speaking.id]}</p>
          <Markdown text={speaking.preview} />
        </div>
      )}
      {live.status === "completed" && run && isOver(run.status) && <RunResult run={run} />}
      <StepList steps={inOrder(live)} onSelect={onStep} />
      <div className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
        <Link
          to="/flows/$flowId/runs/$runId"
          params={{ flowId: run?.flow_id ?? "", runId: live.id }}
          className="text-accent hover:underline"
        >
          {t("open_run")}
        </Link>
        {over && run && me && mayIn(me, spaceId, "flows.edit") && (
          <Link
            to="/flows/$flowId/tests"
            params={{ flowId: run.flow_id }}
            search={{ from: live.id }}
            className="text-accent hover:underline"
          >
            {t("keep_as_test")}
          </Link>
        )}
      </div>
    </section>
  );
}

/** What came out of a run. */
export function RunResult({ run }: { run: NonNullable<FollowedRun["run"]> }) {
  const t = useRunTexts();
  const results = resultsOf(run.output);
  if (results.length === 0) return <p className="text-sm text-muted">{t("no_result")}</p>;
  return (
    <div className="flex flex-col gap-3">
      {results.map((one) => (
        <div key={one.key} className="group relative rounded-md border border-line bg-raised px-3 py-2.5">
          <ValueView value={one.value} />
          {one.text && (
            <div className="absolute top-1 right-1 rounded-md bg-raised opacity-0 focus-within:opacity-100 group-hover:opacity-100">
              <CopyButton text={one.text} />
            </div>
          )}
        </div>
      ))}
    </div>
  );
}

interface Result {
  key: string;
  value: unknown;
  text: string;
}

function resultsOf(output: Record<string, unknown> | null): Result[] {
  if (!output) return [];
  const steps = (output.outputs ?? {}) as Record<
    string,
    { main?: string; text?: string; outputs?: Record<string, unknown> }
  >;
  const found = Object.entries(steps).flatMap(([step, made]) => {
    const value = made.outputs?.[made.main ?? ""];
    return value === undefined ? [] : [{ key: step, value, text: made.text ?? "" }];
  });
  if (found.length === 0 && typeof output.text === "string")
    return [{ key: "text", value: output.text, text: output.text }];
  return found;
}
