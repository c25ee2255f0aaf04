import "@xyflow/react/dist/base.css";
import "./canvas.css";
import { ReactFlowProvider, useStoreApi, type Viewport } from "@xyflow/react";
import { PanelLeftOpen, Plus } from "lucide-react";
import { Suspense, useEffect, useLayoutEffect, useRef, useState } from "react";
import { Button, ContextMenu, Dialog, IconButton } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { part } from "@/lib/part";
import { useRested } from "@/lib/rested";
import { useCanvasCommands } from "./actions/useCanvasCommands";
import { useCanvasShortcuts } from "./actions/useCanvasShortcuts";
import { useContextMenu } from "./actions/useContextMenu";
import { Controls } from "./controls/Controls";
import { useFollowing } from "./gestures/useFollowing";
import { useRefit } from "./gestures/useRefit";
import { firstViewport } from "./gestures/useViewport";
import { useClasses } from "./model/classes";
import { rememberedRegions } from "./model/regions";
import { Drawn, type Stage, useStage } from "./model/stage";
import { useNarrow } from "./model/useNarrow";
import { useView } from "./model/view";
import { Palette } from "./palette/Palette";
import { AddMenu } from "./pick/AddMenu";
import { ConnectMenu } from "./pick/ConnectMenu";
import { FindNode } from "./pick/FindNode";
import { type Before, Surface } from "./Surface";

/** The open flow as a graph. `Before` is drawn at its start. */
export function Canvas({ Before }: { Before?: Before }) {
  const [drawn] = useState<Stage["drawn"]>(() => ({ nodes: [], regions: [] }));
  return (
    <ReactFlowProvider>
      <Drawn value={drawn}>
        <Inside Before={Before} />
      </Drawn>
    </ReactFlowProvider>
  );
}

const Minimap = part(async () => ({ default: (await import("./controls/Minimap")).Minimap }));
const EmptyCanvas = part(async () => ({ default: (await import("./EmptyCanvas")).EmptyCanvas }));
const nothing = () => undefined;

function Inside({ Before }: { Before: Before | undefined }) {
  const api = useStoreApi();
  // Sizes and ports are reckoned from templates: what the drawing measures would cost a layout and say the same.
  useState(() => api.setState({ updateNodeInternals: nothing }));
  const stage = useStage();
  useCanvasShortcuts(stage);
  useCanvasCommands(stage);
  useFollowing(stage);
  useRefit(stage);
  useState(() => useView.getState().set({ regions: rememberedRegions(stage.store.getState().flowId), entering: null }));
  useClasses();
  const narrow = useNarrow();
  return (
    <div className="flex h-full min-h-0">
      {narrow ? <PaletteSheet stage={stage} /> : <PaletteSide stage={stage} />}
      <Stagecraft stage={stage} Before={Before} />
      <AddMenu />
      <FindNode />
      <ConnectMenu />
      <Extracting />
    </div>
  );
}

const ExtractDialog = part(() => import("./extract/ExtractDialog"));

function Extracting() {
  const asked = useView((state) => state.extracting);
  return <Suspense>{asked && <ExtractDialog {...asked} />}</Suspense>;
}

function Stagecraft({ stage, Before }: { stage: Stage; Before: Before | undefined }) {
  const empty = useDraft((state) => state.document.order.length === 0);
  const minimap = useView((state) => state.minimap);
  const rested = useRested();
  const { items, onContextMenu } = useContextMenu(stage);
  const box = useRef<HTMLDivElement>(null);
  const [start, setStart] = useState<Viewport | null>(null);
  useLayoutEffect(() => {
    if (box.current) setStart(firstViewport(stage.store, box.current.getBoundingClientRect()));
  }, [stage]);
  return (
    <section aria-label={stage.t("canvas")} className="relative min-w-0 flex-1">
      <ContextMenu items={items}>
        <div ref={box} className="absolute inset-0" onContextMenuCapture={onContextMenu}>
          {start && <Surface stage={stage} start={start} Before={rested ? Before : undefined} />}
        </div>
      </ContextMenu>
      <Suspense>{empty && <EmptyCanvas stage={stage} />}</Suspense>
      <Controls stage={stage} />
      <Suspense>{rested && minimap && !empty && <Minimap stage={stage} />}</Suspense>
    </section>
  );
}

/** Below this width of the window the palette makes way for what opens in the column. */
const ROOM_FOR_BOTH = 1400;

function PaletteSide({ stage }: { stage: Stage }) {
  const open = usePanels((state) => state.open.palette);
  const columnOpen = usePanels((state) => state.taken > 0);
  useEffect(() => {
    if (columnOpen && window.innerWidth < ROOM_FOR_BOTH) usePanels.getState().setOpen("palette", false);
  }, [columnOpen]);
  const editable = useDraft((state) => state.editable);
  const setOpen = (next: boolean) => usePanels.getState().setOpen("palette", next);
  if (!editable) return null;
  if (open) {
    return (
      <div className="w-60 shrink-0 border-r border-line">
        <Palette onClose={() => setOpen(false)} />
      </div>
    );
  }
  return (
    <div className="shrink-0 border-r border-line bg-surface p-1.5">
      <IconButton label={stage.t("show_palette")} onClick={() => setOpen(true)}>
        <PanelLeftOpen />
      </IconButton>
    </div>
  );
}

function PaletteSheet({ stage }: { stage: Stage }) {
  const [open, setOpen] = useState(false);
  const editable = useDraft((state) => state.editable);
  if (!editable) return null;
  return (
    <>
      <Button
        kind="primary"
        size="lg"
        icon={<Plus />}
        className="absolute top-3 right-3 z-10 shadow-float"
        onClick={() => setOpen(true)}
      >
        {stage.t("add_node")}
      </Button>
      <Dialog open={open} onOpenChange={setOpen} title={stage.t("components")} side>
        <Palette onAdded={() => setOpen(false)} />
      </Dialog>
    </>
  );
}
