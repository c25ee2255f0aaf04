import { useEffect, useRef } from "react";
import type { FieldTemplate } from "@/api/types";
import { FieldControl } from "@/components/fields";
import { useDraft, useDraftStore } from "@/lib/draft";

interface Props {
  nodeId: string;
  field: FieldTemplate;
  onDone: () => void;
}

/** The field's own control, over the node; leaving it or Escape closes it. What was typed is kept: it can be undone. */
export default function InlineEditor({ nodeId, field, onDone }: Props) {
  const store = useDraftStore();
  const value = useDraft((state) => state.document.nodes[nodeId]?.params?.[field.name]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.querySelector<HTMLElement>("input, textarea, [role=combobox], [role=switch], button")?.focus();
    const outside = (event: PointerEvent) => {
      const target = event.target as Element;
      if (!box.current?.contains(target) && !target.closest("[data-radix-popper-content-wrapper], [role=dialog]")) {
        onDone();
      }
    };
    document.addEventListener("pointerdown", outside, true);
    return () => document.removeEventListener("pointerdown", outside, true);
  }, [onDone]);
  return (
    <div
      ref={box}
      role="dialog"
      aria-label={field.label || field.name}
      className="nodrag nopan nowheel absolute -inset-x-1 -top-1 z-10 animate-fade cursor-auto rounded-lg border border-line-strong bg-raised p-2.5 shadow-float"
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") onDone();
      }}
    >
      <FieldControl
        field={field}
        nodeId={nodeId}
        value={value}
        onChange={(next) => store.getState().setParam(nodeId, field.name, next)}
      />
    </div>
  );
}
