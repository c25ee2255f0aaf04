import { useRouterState } from "@tanstack/react-router";
import { useRights } from "@/api/rights";
import { useDraft } from "@/lib/draft";
import { useNarrow } from "@/lib/narrow";
import { inColumn, type Tenant, usePanels } from "@/lib/panels";

/** Where the flow is built as a graph or in steps, or one of its other views. */
export type FlowPlace = "canvas" | "steps" | "other";

export function useFlowPlace(): FlowPlace {
  const view = useFlowView();
  return view === "" ? "canvas" : view === "steps" ? "steps" : "other";
}

/** The word of the address that names the view; none for the canvas. */
export function useFlowView(): string {
  return useRouterState({ select: ({ location }) => location.pathname.split("/")[3] ?? "" });
}

/** What the person may do with the open flow beside looking at it. */
export function useFlowRights() {
  const { may } = useRights();
  const spaceId = useDraft((state) => state.spaceId);
  return { asks: may("flows.edit", spaceId), runs: may("runs.start", spaceId) };
}

/** Who stands in the column of this view; the last is shown. Runs and nodes are beside what is built only. */
export function useColumn(place: FlowPlace): Tenant[] {
  const panels = usePanels();
  const narrow = useNarrow();
  const { asks } = useFlowRights();
  const chosen = useDraft((state) => state.selectedNodes.some((id) => id in state.document.nodes));
  return inColumn(panels, chosen, narrow).filter((one) =>
    one === "assistant" ? asks : place === "canvas" || (place === "steps" && one === "run"),
  );
}
