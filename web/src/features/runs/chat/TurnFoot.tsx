import { Link } from "@tanstack/react-router";
import { ChartNoAxesColumn, RotateCcw } from "lucide-react";
import { useState } from "react";
import { CopyButton, IconButton } from "@/components/ui";
import { isOver } from "../model/live";
import type { FollowedRun } from "../model/useRun";
import { RunFigures } from "../panel/RunFigures";
import { Rating } from "./Rating";
import { useChatTexts } from "./texts";

interface TurnFootProps {
  turn: FollowedRun;
  conversationId: string;
  /** Sends the message again; only below the last one. */
  onAgain?: (() => void) | undefined;
}

/** What can be done with an answer: copy it, send the message again, see what it took. */
export function TurnFoot({ turn: { run, live }, conversationId, onAgain }: TurnFootProps) {
  const t = useChatTexts();
  const [open, setOpen] = useState(false);
  if (!run || !live || !isOver(live.status)) return null;
  return (
    <div className="flex flex-wrap items-center gap-1">
      {run.status === "completed" && run.text && !run.truncated && (
        <CopyButton text={run.text} label={t("copy_answer")} />
      )}
      {run.status === "completed" && <Rating conversationId={conversationId} runId={run.id} />}
      {onAgain && (
        <IconButton size="sm" label={t("send_again")} onClick={onAgain}>
          <RotateCcw />
        </IconButton>
      )}
      <IconButton size="sm" label={t("details")} aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChartNoAxesColumn />
      </IconButton>
      {open && (
        <>
          <RunFigures live={live} />
          <Link
            to="/flows/$flowId/runs/$runId"
            params={{ flowId: run.flow_id, runId: run.id }}
            className="px-1 text-sm text-accent hover:underline"
          >
            {t("open_run")}
          </Link>
        </>
      )}
    </div>
  );
}
