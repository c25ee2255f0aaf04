import { X } from "lucide-react";
import { useDeferredValue } from "react";
import { IconButton } from "@/components/ui";
import { useDraftParts } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { FlowPanel } from "./FlowPanel";
import { ManyPanel } from "./ManyPanel";
import { NodePanel } from "./NodePanel";
import { useInspectorTexts } from "./texts";

/** What is selected, and everything that can be set of it; the flow's form and settings where nothing is. */
export function Inspector() {
  const t = useInspectorTexts();
  // A drag selects what it moves: its first frames do not wait for the fields.
  const selected = useDeferredValue(
    useDraftParts((state) => state.selectedNodes.filter((id) => id in state.document.nodes)),
  );
  return (
    <aside aria-label={t("inspector")} className="relative flex min-h-0 flex-1 flex-col bg-surface">
      <div className="absolute top-2 right-2 z-10">
        <IconButton size="sm" label={t("close")} onClick={() => usePanels.getState().setOpen("inspector", false)}>
          <X />
        </IconButton>
      </div>
      {selected.length === 0 && <FlowPanel />}
      {selected.length === 1 && <NodePanel key={selected[0]} nodeId={selected[0] ?? ""} />}
      {selected.length > 1 && <ManyPanel ids={selected} />}
    </aside>
  );
}
