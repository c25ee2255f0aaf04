import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { recentRunsQuery } from "@/api/queries/overview";
import { runQuery } from "@/api/queries/runs";
import { ExportMenu } from "@/components/exports/ExportButtons";
import { Select, StateChip } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { ago, dateTime, duration } from "@/lib/i18n/format";
import { useOverviewTexts } from "./texts";

const LIVE = "live";

/** Which run is shown, what came of it, and the files. */
export function OverviewBar({ runId }: { runId: string | undefined }) {
  const t = useOverviewTexts();
  const navigate = useNavigate();
  const store = useDraftStore();
  const flowId = useDraft((state) => state.flowId);
  const name = useDraft((state) => state.document.name);
  const { data: recent } = useQuery(recentRunsQuery(flowId));
  const { data: run } = useQuery({ ...runQuery(runId ?? ""), enabled: runId !== undefined });
  const runs = recent?.items ?? [];
  const known = run && !runs.some((one) => one.id === run.id) ? [run, ...runs] : runs;
  const state = (known.find((one) => one.id === runId) ?? run)?.status;
  const options = [
    { value: LIVE, label: t("draft") },
    ...known.map((one) => ({
      value: one.id,
      label: t("run_option", { when: dateTime(one.created_at), state: t(one.status), version: one.version }),
    })),
  ];
  const show = (chosen: string) =>
    void navigate({
      to: "/flows/$flowId/overview",
      params: { flowId },
      search: chosen === LIVE ? {} : { run: chosen },
    });
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-line border-b bg-surface px-4 py-2">
      <Select
        aria-label={t("shown")}
        className="min-w-0 flex-1 sm:w-96 sm:flex-none"
        value={runId ?? LIVE}
        options={options}
        onChange={show}
      />
      {run && runId && state && (
        <p className="order-last flex w-full flex-wrap items-center gap-2 text-sm text-muted sm:order-none sm:w-auto">
          <StateChip state={state} label={t(state)} />
          <span>
            {ago(run.created_at)} · {duration(run.ms)}
          </span>
          <Link
            to="/flows/$flowId/runs/$runId"
            params={{ flowId, runId }}
            className="font-medium text-accent hover:underline"
          >
            {t("open_run")}
          </Link>
        </p>
      )}
      <div className="ml-auto">
        <ExportMenu
          flowId={flowId}
          name={name}
          {...(runId ? { runId, ...(run ? { version: run.version } : {}) } : {})}
          kinds={runId ? ["json", "evidence", "png", "svg", "report"] : ["json", "png", "svg", "report"]}
          before={() => store.getState().flush()}
        />
      </div>
    </div>
  );
}
