import { memo, useState } from "react";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useView } from "../model/view";
import { useCanvasTexts } from "../texts";

/** A node's name; a double click or F2 changes it where it stands. */
export const NodeName = memo(function NodeName({ id, fallback }: { id: string; fallback: string }) {
  const label = useDraft((state) => state.document.nodes[id]?.label ?? "");
  const renaming = useView((state) => state.renaming === id);
  const begin = () => useView.getState().set({ renaming: id });
  if (renaming) return <NameField id={id} label={label || fallback} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: F2 and the node's menu do the same
    <span className="min-w-0 flex-1 truncate text-sm font-semibold" title={label || fallback} onDoubleClick={begin}>
      {label || fallback}
    </span>
  );
});

function NameField({ id, label }: { id: string; label: string }) {
  const t = useCanvasTexts();
  const store = useDraftStore();
  const [text, setText] = useState(label);
  const end = (keep: boolean) => {
    useView.getState().set({ renaming: null });
    if (keep && text.trim() !== label) store.getState().setLabel(id, text.trim().slice(0, 200));
    document.querySelector<HTMLElement>(`.react-flow__node[data-id="${id}"]`)?.focus({ preventScroll: true });
  };
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: somebody has just asked to write here
      autoFocus
      aria-label={t("name")}
      value={text}
      maxLength={200}
      className="nodrag nopan min-w-0 flex-1 rounded-sm border border-accent bg-surface px-1 text-sm font-semibold outline-none"
      onFocus={(event) => event.target.select()}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => useView.getState().renaming === id && end(true)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") end(true);
        if (event.key === "Escape") end(false);
      }}
    />
  );
}
