import { PanelRight, X } from "lucide-react";
import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { IconButton } from "@/components/ui";
import { useDraftParts } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { readStored, writeStored } from "@/lib/storage";
import { FlowPanel } from "./FlowPanel";
import { ManyPanel } from "./ManyPanel";
import { NodePanel } from "./NodePanel";
import { useInspectorTexts } from "./texts";
import { useNarrow } from "./useNarrow";

const NARROWEST = 300;
const WIDEST = 720;
const KEY = "inspector.width";

/** What is selected, and everything that can be set of it; the flow's form and settings where nothing is. */
export function Inspector() {
  const t = useInspectorTexts();
  const isOpen = usePanels((state) => state.open.inspector);
  const narrow = useNarrow();
  const selected = useDraftParts((state) => state.selectedNodes.filter((id) => id in state.document.nodes));
  const [width, setWidth] = useState(() => readStored(KEY, 416));
  const { setOpen } = usePanels.getState();
  // On a narrow screen the flow comes first: the sheet is there for what was tapped.
  if (!isOpen || (narrow && selected.length === 0)) {
    return (
      <div className="absolute right-2 bottom-2 z-10 sm:top-2 sm:bottom-auto">
        {!isOpen && (
          <IconButton kind="secondary" label={t("open")} onClick={() => setOpen("inspector", true)}>
            <PanelRight />
          </IconButton>
        )}
      </div>
    );
  }
  return (
    <aside
      aria-label={t("inspector")}
      className="absolute inset-x-0 bottom-0 z-20 flex h-[68%] min-h-0 flex-col rounded-t-xl border-line border-t bg-surface shadow-modal sm:relative sm:inset-auto sm:h-auto sm:shrink-0 sm:rounded-none sm:border-t-0 sm:border-l sm:shadow-none"
      style={narrow ? undefined : { width }}
    >
      {!narrow && <Edge width={width} onWidth={setWidth} label={t("resize")} />}
      <div className="absolute top-2 right-2 z-10">
        <IconButton size="sm" label={t("close")} onClick={() => setOpen("inspector", false)}>
          <X />
        </IconButton>
      </div>
      {selected.length === 0 && <FlowPanel />}
      {selected.length === 1 && <NodePanel key={selected[0]} nodeId={selected[0] ?? ""} />}
      {selected.length > 1 && <ManyPanel ids={selected} />}
    </aside>
  );
}

/** The left edge: dragged, or moved with the arrow keys. */
function Edge({ width, onWidth, label }: { width: number; onWidth: (width: number) => void; label: string }) {
  const set = (next: number) => {
    const bounded = Math.round(Math.min(Math.max(next, NARROWEST), WIDEST));
    onWidth(bounded);
    writeStored(KEY, bounded);
  };
  const start = (event: PointerEvent<HTMLDivElement>) => {
    const edge = event.currentTarget;
    const from = event.clientX;
    edge.setPointerCapture(event.pointerId);
    const move = (moving: globalThis.PointerEvent) => set(width + from - moving.clientX);
    edge.addEventListener("pointermove", move);
    edge.addEventListener("lostpointercapture", () => edge.removeEventListener("pointermove", move), { once: true });
  };
  const key = (event: KeyboardEvent) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    set(width + (event.key === "ArrowLeft" ? 24 : -24));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that is moved is no <hr>
    <div
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation="vertical"
      aria-valuemin={NARROWEST}
      aria-valuemax={WIDEST}
      aria-valuenow={width}
      onPointerDown={start}
      onKeyDown={key}
      className="absolute inset-y-0 -left-1 z-10 w-2 cursor-col-resize touch-none hover:bg-accent/25 focus-visible:bg-accent/40"
    />
  );
}
