import { useStore } from "@xyflow/react";
import {
  LayoutDashboard,
  Lock,
  LockOpen,
  Map as MapIcon,
  Maximize,
  Minus,
  Plus,
  Search,
  StickyNote,
} from "lucide-react";
import { IconButton } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { addNote, layOut } from "../actions/places";
import { motion, type Stage, show } from "../model/stage";
import { useView } from "../model/view";

/** How the canvas is looked at and put in order. */
export function Controls({ stage }: { stage: Stage }) {
  const t = stage.t;
  const locked = useView((state) => state.locked);
  const minimap = useView((state) => state.minimap);
  const editable = useDraft((state) => state.editable);
  const set = useView.getState().set;
  return (
    <div
      role="toolbar"
      aria-label={t("canvas")}
      className="absolute bottom-3 left-3 z-10 flex max-w-[calc(100%-1.5rem)] flex-wrap items-center gap-0.5 rounded-lg border border-line bg-raised p-1 shadow-card"
    >
      <IconButton size="sm" label={t("zoom_out")} onClick={() => void stage.flow.zoomOut(motion())}>
        <Minus />
      </IconButton>
      <Percent stage={stage} />
      <IconButton size="sm" label={t("zoom_in")} onClick={() => void stage.flow.zoomIn(motion())}>
        <Plus />
      </IconButton>
      <IconButton size="sm" label={t("fit")} onClick={() => show(stage)}>
        <Maximize />
      </IconButton>
      <IconButton size="sm" label={t("find_node")} onClick={() => set({ finding: true })}>
        <Search />
      </IconButton>
      {editable && (
        <>
          <Line />
          <IconButton size="sm" label={t("layout")} onClick={() => void layOut(stage)}>
            <LayoutDashboard />
          </IconButton>
          <IconButton size="sm" label={t("add_note")} onClick={() => addNote(stage)}>
            <StickyNote />
          </IconButton>
        </>
      )}
      <Line />
      <IconButton size="sm" on={locked} label={t("lock")} onClick={() => set({ locked: !locked })}>
        {locked ? <Lock /> : <LockOpen />}
      </IconButton>
      <IconButton
        size="sm"
        on={minimap}
        label={t("map")}
        className="max-sm:hidden"
        onClick={() => set({ minimap: !minimap })}
      >
        <MapIcon />
      </IconButton>
    </div>
  );
}

const Line = () => <span aria-hidden className="mx-0.5 h-4 w-px bg-line" />;

function Percent({ stage }: { stage: Stage }) {
  const percent = useStore((state) => Math.round(state.transform[2] * 100));
  return (
    <button
      type="button"
      title={stage.t("actual_size")}
      aria-label={stage.t("zoom_now", { percent })}
      className="h-7 w-11 rounded-md text-center text-xs text-muted tabular-nums hover:bg-hover hover:text-ink"
      onClick={() => void stage.flow.zoomTo(1, motion())}
    >
      {percent}%
    </button>
  );
}
