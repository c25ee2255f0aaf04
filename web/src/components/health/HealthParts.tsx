import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck } from "lucide-react";
import { partsOf, readinessQuery } from "@/api/queries/health";
import { Problem, Skeleton } from "@/components/ui";
import { duration, number } from "@/lib/i18n/format";
import { useHealthTexts } from "./texts";

const NAMES = {
  server: "server",
  database: "database",
  "run writer": "run_writer",
  "event loop": "event_loop",
  engine: "engine",
  broker: "broker",
  "result backend": "results",
  workers: "worker_processes",
} as const;
/** How the engine inside the server calls itself; it says no more than that it works. */
const EMBEDDED = "embedded";
const SUMMARIES = { ok: "all_works", draining: "draining", failed: "something_fails" } as const;

/** How the server's parts are at this moment. */
export function HealthParts() {
  const t = useHealthTexts();
  const found = useQuery({ ...readinessQuery, refetchInterval: 15_000 });
  if (found.isPending) return <Skeleton className="h-24" />;
  if (found.isError) return <Problem error={found.error} retry={() => void found.refetch()} />;
  const parts = partsOf(found.data);
  const nameOf = (name: string) => (name in NAMES ? t(NAMES[name as keyof typeof NAMES]) : name);
  return (
    <ul aria-label={t("health")} className="divide-y divide-line rounded-lg border border-line bg-surface">
      {(
        parts?.parts ?? [
          { name: "server", state: found.data.status === "failed" ? "failed" : "ok", latency_ms: null, detail: "" },
        ]
      ).map((one) => (
        <li key={one.name} className="flex items-center gap-3 px-4 py-2">
          {one.state === "ok" ? (
            <CircleCheck aria-hidden className="size-4.5 text-ok" />
          ) : (
            <CircleAlert aria-hidden className="size-4.5 text-bad" />
          )}
          <span className="font-medium">{nameOf(one.name)}</span>
          <span className="min-w-0 flex-1 truncate text-sm text-muted">
            {(one.detail !== EMBEDDED && one.detail) || t(one.state === "ok" ? "works" : "failed")}
          </span>
          {one.latency_ms !== null && (
            <span className="text-sm text-muted tabular-nums">{duration(one.latency_ms)}</span>
          )}
        </li>
      ))}
      {parts && (
        <li className="flex flex-wrap gap-x-6 px-4 py-2 text-sm text-muted">
          {parts.status === "draining" && <span className="text-warn">{t("draining")}</span>}
          <span>{t("queue", { count: parts.queue_depth < 0 ? "–" : number(parts.queue_depth) })}</span>
          <span>{t("workers", { count: number(parts.workers) })}</span>
        </li>
      )}
      {!parts && <li className="px-4 py-2 text-sm text-muted">{t(SUMMARIES[found.data.status])}</li>}
    </ul>
  );
}
