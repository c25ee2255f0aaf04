import type { NodeProps } from "@xyflow/react";
import { memo } from "react";
import { KindTile } from "@/components/icons";
import { cx } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import type { CanvasNode } from "../model/flowNodes";
import { issuesOf, stateOf } from "../model/issues";
import { useView } from "../model/view";
import { InlineField } from "./InlineField";
import { NodeMarks } from "./NodeMarks";
import { NodeMenuButton } from "./NodeMenuButton";
import { NodeName } from "./NodeName";
import { PortRows } from "./PortRows";
import { RunStrip } from "./RunStrip";

const RINGS: Record<string, string> = {
  running: "border-info",
  completed: "border-ok/60",
  failed: "border-bad",
  cancelled: "border-warn",
  skipped: "border-line opacity-55",
};

/** A component on the canvas: what it is, its ports, the values one sets most, and how it last fared. */
export const StepNode = memo(function StepNode({ id, data, selected }: NodeProps<CanvasNode>) {
  const { card } = data;
  const type = useDraft((state) => state.document.nodes[id]?.type ?? "");
  const template = useDraft((state) => state.templates[type]);
  const status = useDraft((state) => state.nodeRuns[id]?.status);
  const issue = useDraft((state) => stateOf(issuesOf(state.issues, id)));
  const disabled = useDraft((state) => (state.document.nodes[id]?.policy?.disabled ?? "no") !== "no");
  const fresh = useView((state) => state.fresh.has(id));
  return (
    <div
      className={cx(
        "card group/node relative size-full rounded-lg border bg-surface",
        status ? (RINGS[status] ?? "border-line-strong") : issue === "wrong" ? "border-bad/60" : "border-line-strong",
        selected && "card-selected",
        fresh && "card-fresh",
        disabled && "border-dashed opacity-60 grayscale",
      )}
    >
      <div className="flex h-11 items-center gap-2 pr-2 pl-3">
        <KindTile template={template} className="size-6.5 [&_svg]:size-4" />
        <NodeName id={id} fallback={template?.label ?? type} />
        <NodeMarks id={id} />
        {selected && <NodeMenuButton id={id} />}
      </div>
      <PortRows nodeId={id} card={card} />
      {card.fields.map((field, index) => (
        <InlineField key={field.name} nodeId={id} field={field} top={card.fieldsTop + 2 + index * 32} />
      ))}
      <RunStrip id={id} />
    </div>
  );
});
