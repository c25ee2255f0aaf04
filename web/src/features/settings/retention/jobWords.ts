import type { MaintenanceJob } from "@/api/queries/maintenance";
import type { Say } from "@/lib/i18n/texts";
import type en from "../texts/en";

type T = Say<typeof en>;

const KNOWN = [
  "retention",
  "trash",
  "orphan_sweep",
  "idempotency_keys",
  "sent_events",
  "trigger_occurrences",
  "alerts",
  "form_uploads",
  "knowledge_documents",
  "statistics",
  "knowledge_vectors",
  "audit_heads",
  "codev_sessions",
  "backup",
] as const;
const COUNTED = ["runs", "sessions", "artifacts"] as const;
/** Jobs whose deletions the server counts per organisation. */
const COUNTING: readonly string[] = ["retention", "orphan_sweep", "codev_sessions"];

/** Whether the server counts what the job deletes. */
export const isCounted = (job: MaintenanceJob) => COUNTING.includes(job.name);

const known = (job: MaintenanceJob) => KNOWN.find((name) => name === job.name);

/** The name of a job; one that this page does not know has the name that the server uses. */
export function jobName(t: T, job: MaintenanceJob): string {
  const name = known(job);
  return name ? t(`job_${name}`) : job.name;
}

export function jobSummary(t: T, job: MaintenanceJob): string {
  const name = known(job);
  return name ? t(`job_${name}_more`) : job.summary;
}

/** "2 runs, 1 artifact"; empty when nothing was counted. */
export function countWords(t: T, deleted: Record<string, number>): string {
  return COUNTED.flatMap((kind) => {
    const count = deleted[kind] ?? 0;
    return count > 0 ? [t(`deleted_${kind}`, { count })] : [];
  }).join(", ");
}

export function deletedWords(t: T, deleted: Record<string, number>): string {
  const what = countWords(t, deleted);
  return what ? t("job_deleted", { what }) : t("job_deleted_nothing");
}
