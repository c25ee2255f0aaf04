import { useSuspenseQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useEffect, useState } from "react";
import { componentsQuery } from "@/api/queries/components";
import { flowQuery } from "@/api/queries/flows";
import { meQuery } from "@/api/queries/me";
import { mayIn } from "@/api/rights";
import { Callout, IconButton } from "@/components/ui";
import { Editing, SaveState } from "@/features/editing";
import { Inspector } from "@/features/inspector";
import { type CalledStep, useCalledStep } from "@/lib/calledStep";
import { createDraftStore, DraftProvider, useDraft } from "@/lib/draft";
import { HistoryButtons } from "./header/HistoryButtons";
import { useCalledStepTexts } from "./texts";

/** The settings of a step of the flow that a node runs: they change the draft of that flow, which says its name. */
export function CalledStepPanel({ caller, flowId, stepId }: CalledStep) {
  const [flow, components, me] = useSuspenseQueries({ queries: [flowQuery(flowId), componentsQuery, meQuery] });
  const [store] = useState(() =>
    createDraftStore(flow.data, components.data, mayIn(me.data, flow.data.space_id, "flows.edit")),
  );
  useEffect(() => store.getState().select([stepId]), [store, stepId]);
  return (
    <DraftProvider value={store}>
      <div data-nested-draft className="flex min-h-0 flex-1 flex-col">
        <Head caller={caller} flowId={flowId} />
        <Editing nested />
        <Step stepId={stepId} />
      </div>
    </DraftProvider>
  );
}

/** Which flow is changed, the way to it, and the way back. */
function Head({ caller, flowId }: Pick<CalledStep, "caller" | "flowId">) {
  const t = useCalledStepTexts();
  const name = useDraft((state) => state.document.name);
  const editable = useDraft((state) => state.editable);
  const link = (
    <Link to="/flows/$flowId" params={{ flowId }} search={{ caller }} className="font-medium hover:underline">
      {t("open")}
    </Link>
  );
  return (
    <header className="flex shrink-0 flex-col gap-2 border-line border-b bg-sunken px-3 py-2">
      <div className="flex items-center gap-1">
        <IconButton size="sm" label={t("back")} onClick={() => useCalledStep.getState().choose(null)}>
          <ArrowLeft />
        </IconButton>
        <h2 className="min-w-0 flex-1 truncate text-sm" title={name}>
          {t("step_of")} <span className="font-semibold">{name}</span>
        </h2>
        <SaveState />
        <HistoryButtons nested />
      </div>
      <Callout action={link}>{t(editable ? "changes" : "read_only", { name })}</Callout>
    </header>
  );
}

function Step({ stepId }: { stepId: string }) {
  const t = useCalledStepTexts();
  const there = useDraft((state) => stepId in state.document.nodes);
  const chosen = useDraft((state) => state.selectedNodes.length > 0);
  if (!there) return <p className="p-4 text-muted text-sm">{t("gone")}</p>;
  return chosen ? <Inspector /> : null;
}
