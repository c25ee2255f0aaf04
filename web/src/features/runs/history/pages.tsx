import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useRunTexts } from "../texts";
import { flowNamesQuery } from "./flowNames";
import { RunList } from "./RunList";

/** Runs of every flow, newest first. */
export function RunsPage() {
  const t = useRunTexts();
  const search = useSearch({ from: "/inside/runs" });
  const navigate = useNavigate();
  const { data: names } = useQuery(flowNamesQuery);
  return (
    <div className="mx-auto flex w-full max-w-7xl flex-col gap-4 px-4 py-6 sm:px-6">
      <h1 className="text-2xl font-semibold">{t("runs")}</h1>
      <RunList
        flowId={search.flow}
        status={search.status}
        names={names ?? {}}
        onStatus={(status) => void navigate({ to: "/runs", search: { ...search, status }, replace: true })}
        onFlow={(flow) => void navigate({ to: "/runs", search: { ...search, flow }, replace: true })}
      />
    </div>
  );
}

/** Runs of the open flow. */
export function FlowRunsPage() {
  const t = useRunTexts();
  const { flowId } = useParams({ from: "/inside/flows/$flowId/runs" });
  const { status } = useSearch({ from: "/inside/flows/$flowId/runs" });
  const navigate = useNavigate();
  return (
    <div className="mx-auto flex w-full max-w-7xl flex-col gap-4 px-4 py-5 sm:px-6">
      <h2 className="text-lg font-semibold">{t("runs")}</h2>
      <RunList
        flowId={flowId}
        status={status}
        onStatus={(next) =>
          void navigate({ to: "/flows/$flowId/runs", params: { flowId }, search: { status: next }, replace: true })
        }
      />
    </div>
  );
}
