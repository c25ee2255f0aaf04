import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { relationsQuery } from "@/api/queries/runs";
import { Callout } from "@/components/ui";
import { useRunTexts } from "../texts";

/** The step of another run that started this one. */
export function StartedBy({ runId }: { runId: string }) {
  const t = useRunTexts();
  const { data } = useQuery(relationsQuery(runId));
  if (!data?.parent) return null;
  const { run_id, flow_id, step_id, iteration } = data.parent;
  return (
    <Callout tone="info">
      {t("started_by", { step: step_id, number: iteration + 1 })}{" "}
      <Link
        to="/flows/$flowId/runs/$runId"
        params={{ flowId: flow_id, runId: run_id }}
        search={{ step: step_id }}
        className="font-medium underline"
      >
        {t("open_run")}
      </Link>
    </Callout>
  );
}
