import { useQuery } from "@tanstack/react-query";
import { Archive } from "lucide-react";
import { useState } from "react";
import { type MaintenanceJob, type MaintenanceState, maintenanceQuery } from "@/api/queries/maintenance";
import { useRights } from "@/api/rights";
import { Button, Callout, EmptyState, Listing, Row } from "@/components/ui";
import { ago, dateTime } from "@/lib/i18n/format";
import { Part, Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { deletedWords, isCounted, jobName, jobSummary } from "./jobWords";
import { RunJob } from "./RunJob";

/** What is kept how long, and the jobs that delete the rest. */
export function RetentionSection() {
  const t = useSettingsTexts();
  const { may } = useRights();
  const state = useQuery(maintenanceQuery);
  const [running, setRunning] = useState<MaintenanceJob | null>(null);
  return (
    <Section title={t("retention")} about={t("retention_about")}>
      {state.data && <Policy state={state.data} />}
      <Part title={t("jobs")} about={t("jobs_more")}>
        <Listing
          label={t("jobs")}
          query={{ ...state, data: state.data?.jobs }}
          empty={
            <EmptyState icon={<Archive />} title={t("no_jobs")}>
              {t("no_jobs_more")}
            </EmptyState>
          }
        >
          {(job) => (
            <JobRow key={job.name} job={job} onRun={may("maintenance.run") ? () => setRunning(job) : undefined} />
          )}
        </Listing>
      </Part>
      {running && <RunJob job={running} onClose={() => setRunning(null)} />}
    </Section>
  );
}

function Policy({ state }: { state: MaintenanceState }) {
  const t = useSettingsTexts();
  const days = (count: number | null) => (count === null ? t("kept_forever") : t("kept_days", { count }));
  return (
    <div className="flex flex-col gap-2">
      <dl className="grid gap-x-6 gap-y-1.5 rounded-lg border border-line bg-surface px-4 py-3 sm:grid-cols-[max-content_1fr] [&_dt]:text-muted">
        <dt>{t("kept_runs")}</dt>
        <dd>
          <span>{days(state.run_days)}</span>
          <span className="ml-1.5 text-sm text-muted">· {t("kept_runs_more")}</span>
        </dd>
        <dt>{t("kept_sessions")}</dt>
        <dd>{days(state.session_days)}</dd>
        <dt>{t("kept_waiting")}</dt>
        <dd>{days(state.waiting_session_days)}</dd>
        <dt>{t("at_rest")}</dt>
        <dd>
          <AtRest state={state} />
        </dd>
        <dt>{t("backup")}</dt>
        <dd>
          <LastBackup state={state} />
        </dd>
      </dl>
      <p className="text-sm text-muted">{t("kept_by")}</p>
    </div>
  );
}

/** Whether new files and conversations are encrypted, and since when. */
function AtRest({ state: { encryption } }: { state: MaintenanceState }) {
  const t = useSettingsTexts();
  if (!encryption.encrypted)
    return (
      <>
        <span>{t("at_rest_off")}</span>
        <span className="ml-1.5 text-sm text-muted">· {t("at_rest_off_more")}</span>
      </>
    );
  return <>{encryption.since ? t("at_rest_since", { when: dateTime(encryption.since) }) : t("at_rest_on")}</>;
}

/** When the last backup was made, and how to make one. */
function LastBackup({ state: { backup } }: { state: MaintenanceState }) {
  const t = useSettingsTexts();
  const how = backup.every_hours === null ? t("backup_how") : t("backup_every", { count: backup.every_hours });
  return (
    <>
      <span>{backup.last_at ? t("backup_last", { when: dateTime(backup.last_at) }) : t("backup_never")}</span>
      <span className="ml-1.5 text-sm text-muted">· {how}</span>
      {backup.overdue && (
        <div className="mt-2">
          <Callout tone="warn">{t("backup_overdue")}</Callout>
        </div>
      )}
    </>
  );
}

interface JobRowProps {
  job: MaintenanceJob;
  onRun?: (() => void) | undefined;
}

function JobRow({ job, onRun }: JobRowProps) {
  const t = useSettingsTexts();
  const name = jobName(t, job);
  return (
    <Row
      title={name}
      detail={
        <>
          <p>{jobSummary(t, job)}</p>
          <p className="text-xs">
            <LastRun job={job} />
            {job.due_at && !isRunning(job) && <> · {t("job_due", { when: ago(job.due_at) })}</>}
          </p>
        </>
      }
      aside={
        onRun && (
          <Button size="sm" aria-label={t("run_what", { what: name })} disabled={isRunning(job)} onClick={onRun}>
            {t("run_now")}
          </Button>
        )
      }
    >
      {job.error && (
        <div className="mt-2">
          <Callout tone="bad">{job.error}</Callout>
        </div>
      )}
    </Row>
  );
}

const isRunning = (job: MaintenanceJob) => job.started_at !== null && job.finished_at === null;

function LastRun({ job }: { job: MaintenanceJob }) {
  const t = useSettingsTexts();
  const at = job.finished_at ?? job.started_at;
  if (!at) return <>{t("job_never_ran")}</>;
  const words = isRunning(job) ? "job_running" : job.error ? "job_failed" : "job_ran";
  return (
    <>
      <time dateTime={at} title={dateTime(at)}>
        {t(words, { when: ago(at) })}
      </time>
      {words === "job_ran" && isCounted(job) && <>, {deletedWords(t, job.deleted)}</>}
    </>
  );
}
