import type { NodeProps } from "@xyflow/react";
import { memo, Suspense, useState } from "react";
import { cx } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { part } from "@/lib/part";
import type { CanvasNode } from "../model/flowNodes";
import { useView } from "../model/view";
import { useCanvasTexts } from "../texts";

const Markdown = part(() => import("@/components/markdown/Markdown").then((found) => ({ default: found.Markdown })));

/** Words on the canvas; a double click or Enter writes in them. */
export const NoteNode = memo(function NoteNode({ id, selected }: NodeProps<CanvasNode>) {
  const t = useCanvasTexts();
  const store = useDraftStore();
  const text = useDraft((state) => String(state.document.nodes[id]?.params?.text ?? ""));
  const editable = useDraft((state) => state.editable);
  const fresh = useView((state) => state.fresh.has(id));
  const [writing, setWriting] = useState(false);
  const look = cx(
    "size-full overflow-hidden rounded-lg border border-warn/30 bg-warn-soft p-3 text-sm",
    selected && "card-selected",
    fresh && "card-fresh",
  );
  if (writing) {
    return (
      <div className={look}>
        <textarea
          // biome-ignore lint/a11y/noAutofocus: somebody has just asked to write here
          autoFocus
          aria-label={t("note_text")}
          defaultValue={text}
          placeholder={t("note_more")}
          className="nodrag nopan nowheel size-full resize-none bg-transparent outline-none"
          onBlur={(event) => {
            store.getState().setParam(id, "text", event.target.value);
            setWriting(false);
          }}
          onKeyDown={(event) => {
            event.stopPropagation();
            if (event.key === "Escape") event.currentTarget.blur();
          }}
        />
      </div>
    );
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Enter opens the inspector, where the text is a field
    <div className={look} onDoubleClick={() => editable && setWriting(true)}>
      {text ? (
        <Suspense fallback={<p className="whitespace-pre-wrap">{text}</p>}>
          <Markdown text={text} />
        </Suspense>
      ) : (
        <p className="text-muted">{t("note_more")}</p>
      )}
    </div>
  );
});
