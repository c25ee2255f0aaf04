import { useSuspenseQueries } from "@tanstack/react-query";
import { Outlet, useParams } from "@tanstack/react-router";
import { memo, Suspense, useEffect, useState } from "react";
import { componentsQuery } from "@/api/queries/components";
import { flowQuery } from "@/api/queries/flows";
import { meQuery } from "@/api/queries/me";
import { mayIn } from "@/api/rights";
import { Editing } from "@/features/editing";
import { rememberFlow } from "@/lib/commands/recent";
import { createDraftStore, DraftProvider, type DraftStore } from "@/lib/draft";
import { fetchRest } from "@/lib/part";
import { Column } from "./Column";
import { FlowHeader } from "./FlowHeader";
import { FlowSkeleton } from "./FlowSkeleton";
import { useFlowPlace } from "./place";
import { useAskFromAddress } from "./useAskFromAddress";
import { usePlacing } from "./usePlacing";

/** One open flow: its header, the view that the address names, and one column beside it. */
export function FlowPage() {
  const { flowId } = useParams({ from: "/inside/flows/$flowId" });
  return (
    <Suspense fallback={<FlowSkeleton />}>
      <OpenFlow key={flowId} flowId={flowId} />
    </Suspense>
  );
}

function OpenFlow({ flowId }: { flowId: string }) {
  const [flow, components, me] = useSuspenseQueries({ queries: [flowQuery(flowId), componentsQuery, meQuery] });
  const [store] = useState(() =>
    createDraftStore(flow.data, components.data, mayIn(me.data, flow.data.space_id, "flows.edit")),
  );
  useEffect(() => {
    const { templates, setTemplates } = store.getState();
    if (components.data.some((one) => templates[one.type] !== one)) {
      setTemplates([...Object.values(templates), ...components.data]);
    }
  }, [store, components.data]);
  return <Opened store={store} flowId={flowId} />;
}

/** Drawn anew by its own parts only: what the server answers to a save goes into the store. */
const Opened = memo(function Opened({ store, flowId }: { store: DraftStore; flowId: string }) {
  const place = useFlowPlace();
  useAskFromAddress();
  usePlacing(store, place, flowId);
  useEffect(fetchRest, []);
  useEffect(() => rememberFlow({ id: flowId, name: store.getState().document.name }), [store, flowId]);
  return (
    <DraftProvider value={store}>
      <div className="flex h-full min-h-0 flex-col">
        <FlowHeader />
        <Editing />
        <div className="relative flex min-h-0 flex-1">
          <div className="min-w-0 flex-1 overflow-auto">
            <Outlet />
          </div>
          <Column place={place} />
        </div>
      </div>
    </DraftProvider>
  );
});
