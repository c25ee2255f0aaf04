import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Page } from "@/components/page";
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
    <Page title={t("runs")}>
      <RunList
        flowId={search.flow}
        status={search.status}
        triggerId={search.trigger}
        names={names ?? {}}
        onStatus={(status) => void navigate({ to: "/runs", search: { ...search, status }, replace: true })}
        onFlow={(flow) => void navigate({ to: "/runs", search: { ...search, flow }, replace: true })}
      />
    </Page>
  );
}

/** Runs of the open flow. */
export function FlowRunsPage() {
  const t = useRunTexts();
  const { flowId } = useParams({ from: "/inside/flows/$flowId/runs" });
  const { status } = useSearch({ from: "/inside/flows/$flowId/runs" });
  const navigate = useNavigate();
  return (
    <Page ofFlow title={t("runs")}>
      <RunList
        flowId={flowId}
        status={status}
        onStatus={(next) =>
          void navigate({ to: "/flows/$flowId/runs", params: { flowId }, search: { status: next }, replace: true })
        }
      />
    </Page>
  );
}
