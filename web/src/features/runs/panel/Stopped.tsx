import { useMutation, useQueryClient } from "@tanstack/react-query";
import { FastForward, Pause, Play, StepForward } from "lucide-react";
import { api, unwrap } from "@/api/client";
import { runKeys } from "@/api/queries/runs";
import { Button, toastError } from "@/components/ui";
import { type LiveRun, stoppedBefore } from "../model/live";
import { useNames } from "../model/useNames";
import { useRunTexts } from "../texts";

type Then = "breakpoints" | "next" | "end";

/** Before which steps a run is stopped at breakpoints, and the ways to continue it. */
export function Stopped({ live }: { live: LiveRun }) {
  const t = useRunTexts();
  const queries = useQueryClient();
  const steps = stoppedBefore(live);
  const names = useNames(steps);
  const proceed = useMutation({
    mutationFn: (then: Then) =>
      unwrap(
        api.POST("/api/v1/flow-runs/{run_id}/breakpoints/continue", {
          params: { path: { run_id: live.id } },
          body: { then },
        }),
      ),
    onError: (error) => toastError(t("continue_run"), error),
    onSettled: () => queries.invalidateQueries({ queryKey: runKeys.one(live.id) }),
  });
  if (steps.length === 0) return null;
  const button = (then: Then) => ({
    busy: proceed.isPending && proceed.variables === then,
    disabled: proceed.isPending,
    onClick: () => proceed.mutate(then),
  });
  return (
    <section
      aria-label={t("stopped")}
      className="flex flex-col gap-2.5 rounded-md border border-warn/25 bg-warn-soft px-3 py-2.5 text-sm"
    >
      <p role="status" className="flex gap-2.5 font-medium text-warn">
        <Pause aria-hidden className="mt-0.5 size-4 shrink-0" />
        <span className="min-w-0 break-words">
          {t("stopped_before", { steps: steps.map((step) => names[step.id]).join(", ") })}
        </span>
      </p>
      <div className="flex flex-wrap gap-2">
        <Button size="sm" kind="primary" icon={<Play />} title={t("to_breakpoint_help")} {...button("breakpoints")}>
          {t("to_breakpoint")}
        </Button>
        <Button size="sm" icon={<StepForward />} title={t("next_step_help")} {...button("next")}>
          {t("next_step")}
        </Button>
        <Button size="sm" icon={<FastForward />} {...button("end")}>
          {t("without_stops")}
        </Button>
      </div>
    </section>
  );
}
