import { useQuery } from "@tanstack/react-query";
import { jobPreviewQuery, type MaintenanceJob, maintenanceKeys, runJob } from "@/api/queries/maintenance";
import { runKeys } from "@/api/queries/runs";
import { Confirm, Problem, toast } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";
import { countWords, deletedWords, isCounted, jobName, jobSummary } from "./jobWords";

/** Asks before a job runs: a dry run shows what it deletes. */
export function RunJob({ job, onClose }: { job: MaintenanceJob; onClose: () => void }) {
  const t = useSettingsTexts();
  const preview = useQuery(jobPreviewQuery(job.name));
  const run = useChange({
    change: () => runJob(job.name),
    touches: [maintenanceKeys.all, runKeys.all],
    failed: t("run_job_failed"),
  });
  const what = preview.data && countWords(t, preview.data.deleted);
  const start = () =>
    run.mutate(undefined, {
      onSuccess: ({ deleted }) =>
        toast({
          title: isCounted(job)
            ? t("run_job_done", { what: jobName(t, job), deleted: deletedWords(t, deleted) })
            : t("run_job_finished", { what: jobName(t, job) }),
          tone: "ok",
        }),
      onSettled: onClose,
    });
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("run_what", { what: jobName(t, job) })}
      action={t("run_now")}
      busy={run.isPending}
      onConfirm={start}
    >
      {preview.isError && <Problem error={preview.error} retry={() => void preview.refetch()} />}
      {!isCounted(job) && jobSummary(t, job)}
      {isCounted(job) && preview.isPending && t("would_delete_counting")}
      {isCounted(job) && preview.data && (what ? t("would_delete", { what }) : t("would_delete_nothing"))}
    </Confirm>
  );
}
