import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { runQuery } from "@/api/queries/runs";
import { useDraft } from "@/lib/draft";
import { caseOf } from "./fromRun";
import { TestsView } from "./TestsView";
import { useTestTexts } from "./texts";

/** A flow's tests; `from` in the address names a run that is to become one. */
export function TestsPage() {
  const t = useTestTexts();
  const navigate = useNavigate();
  const flowId = useDraft((state) => state.flowId);
  const { from } = useSearch({ from: "/inside/flows/$flowId/tests" });
  const run = useQuery({ ...runQuery(from ?? ""), enabled: from !== undefined });
  const close = () => void navigate({ to: "/flows/$flowId/tests", params: { flowId }, search: {}, replace: true });
  return <TestsView proposal={from && run.data ? caseOf(run.data, t("of_run")) : undefined} onProposalOver={close} />;
}
