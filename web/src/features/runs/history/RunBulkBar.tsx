import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CirclePlay, CircleStop, GitCompareArrows, Pause, Play, RotateCcw, Send } from "lucide-react";
import { changeRuns, over, type RunsAction, runKeys } from "@/api/queries/runs";
import { useRights } from "@/api/rights";
import type { RunSummary } from "@/api/types";
import { type Selection, SelectionBar } from "@/components/lists";
import { Button, toast, toastError } from "@/components/ui";
import { useRunTexts } from "../texts";

interface RunBulkBarProps {
  selection: Selection;
  runs: readonly RunSummary[];
}

/** What can be done with the selected runs. */
export function RunBulkBar({ selection, runs }: RunBulkBarProps) {
  const t = useRunTexts();
  const navigate = useNavigate();
  const { may } = useRights();
  const change = useChangeRuns();
  const selected = runs.filter((run) => selection.has(run.id));
  const [first, second] = selected;
  const paused = selected.filter((run) => run.status === "paused");
  const active = selected.filter((run) => !over(run));
  const failed = selected.filter((run) => run.status === "failed");
  const ended = selected.filter(over);
  const undelivered = selected.filter((run) => (run.deliveries_failed ?? 0) > 0);
  const pausable = active.filter((run) => run.status !== "paused");
  const act = (action: RunsAction, affected: readonly RunSummary[]) => {
    change.mutate({ action, run_ids: affected.map((run) => run.id) });
    selection.clear();
  };
  return (
    <SelectionBar
      count={selected.length}
      onClear={selection.clear}
      className="sticky bottom-3 z-20 rounded-lg border shadow-float"
    >
      {selected.length === 2 && first && second && first.flow_id === second.flow_id && (
        <Button
          icon={<GitCompareArrows />}
          onClick={() =>
            void navigate({
              to: "/flows/$flowId/runs/$runId",
              params: { flowId: first.flow_id, runId: second.id },
              search: { compare: first.id },
            })
          }
        >
          {t("compare_selected")}
        </Button>
      )}
      {may("runs.start") && pausable.length > 0 && (
        <Button icon={<Pause />} onClick={() => act("pause", pausable)}>
          {t("pause_run")}
        </Button>
      )}
      {may("runs.start") && paused.length > 0 && (
        <Button icon={<Play />} onClick={() => act("continue", paused)}>
          {t("continue_run")}
        </Button>
      )}
      {may("runs.start") && failed.length > 0 && (
        <Button icon={<CirclePlay />} onClick={() => act("resume", failed)}>
          {t("resume_selected")}
        </Button>
      )}
      {may("runs.start") && ended.length > 0 && (
        <Button icon={<RotateCcw />} onClick={() => act("rerun", ended)}>
          {t("rerun_selected")}
        </Button>
      )}
      {may("runs.start") && undelivered.length > 0 && (
        <Button icon={<Send />} onClick={() => act("redeliver", undelivered)}>
          {t("redeliver_selected")}
        </Button>
      )}
      {may("runs.start") && active.length > 0 && (
        <Button kind="danger" icon={<CircleStop />} onClick={() => act("cancel", active)}>
          {t("cancel_selected")}
        </Button>
      )}
    </SelectionBar>
  );
}

function useChangeRuns() {
  const t = useRunTexts();
  const client = useQueryClient();
  return useMutation({
    mutationFn: changeRuns,
    onSuccess: (results, { action }) => {
      const changed = results.filter((one) => one.changed).length;
      const refused = results.filter((one) => one.problem);
      if (changed > 0) toast({ title: t(`bulk_${action}`, { count: changed }), tone: "ok" });
      if (refused[0]) {
        toast({ title: t("bulk_refused", { count: refused.length }), detail: refused[0].problem?.detail, tone: "bad" });
      }
    },
    onError: (error) => toastError(t("bulk_failed"), error),
    onSettled: () => client.invalidateQueries({ queryKey: runKeys.all }),
  });
}
