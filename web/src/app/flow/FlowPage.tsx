import { useSuspenseQueries } from "@tanstack/react-query";
import { Outlet, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { componentsQuery } from "@/api/queries/components";
import { flowQuery } from "@/api/queries/flows";
import { AssistantDock } from "@/features/assistant";
import { Editing } from "@/features/editing";
import { RunPanel } from "@/features/runs";
import { createDraftStore, DraftProvider } from "@/lib/draft";
import { FlowHeader } from "./FlowHeader";

/** One open flow: its header, the view that the address names, the assistant and the run beside it. */
export function FlowPage() {
  const { flowId } = useParams({ from: "/inside/flows/$flowId" });
  return <OpenFlow key={flowId} flowId={flowId} />;
}

function OpenFlow({ flowId }: { flowId: string }) {
  const [flow, components] = useSuspenseQueries({ queries: [flowQuery(flowId), componentsQuery] });
  const [store] = useState(() => createDraftStore(flow.data, components.data));
  return (
    <DraftProvider value={store}>
      <Editing />
      <div className="flex h-full min-h-0 flex-col">
        <FlowHeader />
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
}
