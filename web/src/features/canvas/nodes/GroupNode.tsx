import { type NodeProps, NodeResizer } from "@xyflow/react";
import { memo } from "react";
import { cx } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import type { CanvasNode } from "../model/flowNodes";
import { useView } from "../model/view";
import { useCanvasTexts } from "../texts";
import { NodeMenuButton } from "./NodeMenuButton";

const COLOURS: Record<string, string> = {
  grey: "border-line-strong text-muted",
  teal: "border-accent/50 text-accent",
  blue: "border-info/50 text-info",
  violet: "border-port-message/50 text-port-message",
  amber: "border-warn/50 text-warn",
  red: "border-bad/50 text-bad",
};

/** A frame: its title carries it and what stands in it, its edges make it larger. */
export const GroupNode = memo(function GroupNode({ id, selected }: NodeProps<CanvasNode>) {
  const t = useCanvasTexts();
  const title = useDraft((state) => String(state.document.nodes[id]?.params?.title ?? ""));
  const colour = useDraft((state) => String(state.document.nodes[id]?.params?.colour ?? "grey"));
  const editable = useDraft((state) => state.editable);
  const renaming = useView((state) => state.renaming === id);
  const look = COLOURS[colour] ?? COLOURS.grey;
  return (
    <div className={cx("size-full rounded-xl border-2 border-dashed bg-current/4", look, selected && "border-solid")}>
      {selected && editable && (
        <NodeResizer minWidth={120} minHeight={120} handleClassName="group-handle" lineClassName="group-line" />
      )}
      <div className="group-grip flex h-9 cursor-grab items-center gap-2 px-3">
        {renaming ? (
          <TitleField id={id} title={title} />
        ) : (
          // biome-ignore lint/a11y/noStaticElementInteractions: F2 does the same
          <span
            className={cx("min-w-0 flex-1 truncate font-semibold", "text-sm")}
            onDoubleClick={() => editable && useView.getState().set({ renaming: id })}
          >
            {title || t("group")}
          </span>
        )}
        {selected && <NodeMenuButton id={id} />}
      </div>
    </div>
  );
});

function TitleField({ id, title }: { id: string; title: string }) {
  const t = useCanvasTexts();
  const store = useDraftStore();
  const end = (text: string | null) => {
    if (text !== null && text !== title) store.getState().setParam(id, "title", text.slice(0, 200));
    useView.getState().set({ renaming: null });
  };
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: somebody has just asked to write here
      autoFocus
      aria-label={t("name")}
      defaultValue={title}
      maxLength={200}
      className="nodrag nopan min-w-0 flex-1 rounded-sm border border-accent bg-surface px-1 text-sm font-semibold text-ink outline-none"
      onFocus={(event) => event.target.select()}
      onBlur={(event) => useView.getState().renaming === id && end(event.target.value)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") end(event.currentTarget.value);
        if (event.key === "Escape") end(null);
      }}
    />
  );
}
