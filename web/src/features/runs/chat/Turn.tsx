import { Link } from "@tanstack/react-router";
import { Square } from "lucide-react";
import { type ReactNode, Suspense, useEffect, useRef } from "react";
import type { RunOut } from "@/api/types";
import { FileLink } from "@/components/files/FileLink";
import { Markdown } from "@/components/markdown/Markdown";
import { Callout, IconButton, Problem, Spinner } from "@/components/ui";
import { ValueView } from "@/components/values/ValueView";
import { part } from "@/lib/part";
import { isOver, type LiveRun, stoppedBefore, waitsForApproval } from "../model/live";
import { type FollowedRun, useRun } from "../model/useRun";
import { Stopped } from "../panel/Stopped";
import { useCancel } from "../panel/useCancel";
import { useRunTexts } from "../texts";

const CitedReply = part(() => import("./CitedReply"));
const BUBBLE = "min-w-0 max-w-full rounded-lg bg-raised px-3 py-2 shadow-low";

interface TurnProps {
  runId: string;
  /** Called when the run moves from one state to the next. */
  onStatus?: (status: RunOut["status"]) => void;
  /** What is below the answer. */
  children: (turn: FollowedRun) => ReactNode;
}

/** A message of the user and the flow's answer, as it is written: both are one run. */
export function Turn({ runId, onStatus, children }: TurnProps) {
  const t = useRunTexts();
  const turn = useRun(runId);
  const { run, live, connection, error } = turn;
  const end = useRef<HTMLDivElement>(null);
  const status = live?.status;
  const going = status !== undefined && !isOver(status);
  useEffect(() => {
    if (going) end.current?.scrollIntoView({ block: "end" });
  }, [going]);
  useEffect(() => {
    if (status) onStatus?.(status);
  }, [status, onStatus]);
  return (
    <div ref={end} className="flex flex-col gap-2">
      {run && <Asked run={run} />}
      <div className="flex max-w-[92%] flex-col items-start gap-1 self-start">
        {error !== null && !run && <Problem error={error} />}
        {live && going && <Going live={live} />}
        {run && live?.status === "completed" && <Reply run={run} otherwise={spoken(live)} />}
        {live?.status === "failed" && (
          <Callout tone="bad" title={t("failed")}>
            {live.error}
          </Callout>
        )}
        {live?.status === "cancelled" && <p className="text-sm text-muted">{t("cancelled")}</p>}
        {connection === "reconnecting" && <p className="text-xs text-warn">{t("reconnecting")}</p>}
        {children(turn)}
      </div>
    </div>
  );
}

const spoken = (live: LiveRun) => (live.speaking ? (live.steps[live.speaking]?.preview ?? "") : "");

function Asked({ run }: { run: RunOut }) {
  return (
    <div className="flex max-w-[85%] flex-col gap-2 self-end rounded-lg bg-accent-soft px-3 py-2">
      {run.input.text && <p className="whitespace-pre-wrap break-words">{run.input.text}</p>}
      {run.input.file_ids.map((id) => (
        <FileLink key={id} id={id} />
      ))}
    </div>
  );
}

/** What is written so far, or what the run waits for, and the way to stop it. */
function Going({ live }: { live: LiveRun }) {
  const t = useRunTexts();
  const cancel = useCancel();
  const said = spoken(live);
  return (
    <div className="flex max-w-full items-start gap-2">
      {stoppedBefore(live).length > 0 ? (
        <Stopped live={live} />
      ) : waitsForApproval(live) ? (
        <Link to="/inbox/{-$approvalId}" className="text-accent hover:underline">
          {t("waits_for_approval")}
        </Link>
      ) : (
        <div className="min-w-0 rounded-lg bg-raised px-3 py-2 shadow-low">
          {said ? <Markdown text={said} /> : live.status === "paused" ? t("paused") : <Spinner />}
        </div>
      )}
      <IconButton size="sm" label={t("stop")} onClick={() => cancel.mutate(live.id)}>
        <Square />
      </IconButton>
    </div>
  );
}

/** The result; where it cites passages of knowledge, each number opens its passage. */
function Reply({ run, otherwise }: { run: RunOut; otherwise: string }) {
  const plain = <ValueView value={firstOutput(run.output) ?? run.output?.text ?? otherwise} />;
  const bubble = <div className={BUBBLE}>{plain}</div>;
  if (!run.steps.some((step) => step.type === "AnswerFromKnowledge")) return bubble;
  return (
    <Suspense fallback={bubble}>
      <CitedReply run={run} className={BUBBLE}>
        {plain}
      </CitedReply>
    </Suspense>
  );
}

function firstOutput(output: RunOut["output"]): unknown {
  const steps = Object.values(
    (output?.outputs ?? {}) as Record<string, { main?: string; outputs?: Record<string, unknown> }>,
  );
  const last = steps.at(-1);
  return last?.outputs?.[last.main ?? ""];
}
