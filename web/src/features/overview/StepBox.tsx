import { Handle, type NodeProps, Position } from "@xyflow/react";
import { memo } from "react";
import { KindIcon } from "@/components/icons";
import { ClassChip, cx } from "@/components/ui";
import { duration, number } from "@/lib/i18n/format";
import { nodeName, underName } from "@/lib/nodeName";
import { Badges } from "./Badges";
import { type DrawnNode, tokensOf } from "./drawn";
import { ROLE_STRIPES, roleOf, STATUS_BOXES } from "./looks";
import { useOverviewTexts } from "./texts";

const HIDDEN = "!size-0 !min-h-0 !min-w-0 !border-0 !bg-transparent opacity-0";

/** A step, a model or a tool: what it is, what it works with, and what became of it. */
export const StepBox = memo(function StepBox({ data }: NodeProps<DrawnNode>) {
  const t = useOverviewTexts();
  const { node, template } = data;
  const known = { [node.type]: template };
  const types = [node.input_type, node.output_type].filter((one) => one && one !== "any");
  return (
    <div
      data-node={node.id}
      data-status={node.run?.status}
      className={cx(
        "relative flex w-64 flex-col gap-1.5 overflow-hidden rounded-lg border py-2.5 pr-3 pl-4 shadow-card",
        node.run ? STATUS_BOXES[node.run.status] : "border-line-strong bg-surface",
      )}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} className={HIDDEN} />
      <span aria-hidden className={cx("absolute inset-y-0 left-0 w-1.5", ROLE_STRIPES[roleOf(node)])} />
      <div className="flex items-start gap-2">
        <KindIcon template={template} className="mt-0.5 size-4.5 shrink-0" />
        <div className="min-w-0 flex-1">
          <div className="truncate font-medium">{nodeName(node, known)}</div>
          <div className="truncate text-xs text-muted">{underName(node, known)}</div>
        </div>
        {node.classification && <ClassChip level={node.classification.level} />}
      </div>
      <div className="flex min-h-4 items-center gap-2 text-xs text-muted">
        <Badges badges={node.badges ?? []} />
        {types.length > 0 && (
          <span className="truncate">{types.map((one) => t(`type_${one}` as "type_text")).join(" → ")}</span>
        )}
      </div>
      {node.run && (
        <div className={cx("text-xs", node.run.status === "failed" && "text-bad")}>
          {node.run.error ? (
            <span className="line-clamp-2 break-words">{node.run.error.message}</span>
          ) : (
            [
              t(node.run.status),
              node.run.ms === null ? "" : duration(node.run.ms),
              tokensOf(node) > 0 ? t("tokens", { count: number(tokensOf(node)) }) : "",
            ]
              .filter(Boolean)
              .join(" · ")
          )}
        </div>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} className={HIDDEN} />
    </div>
  );
});

export const NoteBox = memo(function NoteBox({ data }: NodeProps<DrawnNode>) {
  return (
    <div className="w-64 rounded-lg border border-warn/30 bg-warn-soft px-3 py-2 text-sm">
      <p className="line-clamp-5 whitespace-pre-line break-words">{data.words || data.node.label}</p>
    </div>
  );
});

export const FrameBox = memo(function FrameBox({ data }: NodeProps<DrawnNode>) {
  return (
    <div className="size-full rounded-xl border border-line bg-hover/50 px-3 py-2">
      <p className="truncate font-medium text-muted text-sm">{data.words}</p>
    </div>
  );
});
