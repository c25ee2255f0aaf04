import { useSuspenseQueries } from "@tanstack/react-query";
import { Outlet, useParams } from "@tanstack/react-router";
import { memo, useState } from "react";
import { componentsQuery } from "@/api/queries/components";
import { flowQuery } from "@/api/queries/flows";
import { meQuery } from "@/api/queries/me";
import { mayIn } from "@/api/rights";
import { AssistantDock } from "@/features/assistant";
import { Editing } from "@/features/editing";
import { RunPanel } from "@/features/runs";
import { createDraftStore, DraftProvider, type DraftStore } from "@/lib/draft";
import { FlowHeader } from "./FlowHeader";
import { useAskFromAddress } from "./useAskFromAddress";

/** One open flow: its header, the view that the address names, the assistant and the run beside it. */
export function FlowPage() {
  const { flowId } = useParams({ from: "/inside/flows/$flowId" });
  return <OpenFlow key={flowId} flowId={flowId} />;
}

function OpenFlow({ flowId }: { flowId: string }) {
  const [flow, components, me] = useSuspenseQueries({ queries: [flowQuery(flowId), componentsQuery, meQuery] });
  const [store] = useState(() =>
    createDraftStore(flow.data, components.data, mayIn(me.data, flow.data.space_id, "flows.edit")),
  );
  return <Opened store={store} />;
}

/** Drawn anew by its own parts only: what the server answers to a save goes into the store. */
const Opened = memo(function Opened({ store }: { store: DraftStore }) {
  useAskFromAddress();
  return (
    <DraftProvider value={store}>
      <div className="flex h-full min-h-0 flex-col">
        <FlowHeader />
        <Editing />
        <div className="relative flex min-h-0 flex-1">
          <div className="min-w-0 flex-1 overflow-auto">
            <Outlet />
          </div>
          <RunPanel />
          <AssistantDock />
        </div>
      </div>
    </DraftProvider>
  );
});
