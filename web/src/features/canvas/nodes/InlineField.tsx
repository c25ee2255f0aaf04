import { memo, Suspense, useState } from "react";
import type { FieldTemplate, JsonValue } from "@/api/types";
import { cx } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { part } from "@/lib/part";
import { shortened } from "@/lib/shortened";
import { issuesOf, stateOf } from "../model/issues";
import { useCanvasTexts } from "../texts";

const MARKS = {
  wrong: { border: "border-bad", label: "text-bad" },
  needs: { border: "border-warn border-dashed", label: "text-warn" },
  warning: { border: "border-warn", label: "text-warn" },
};
const Editor = part(() => import("./InlineEditor"));

/** A value on the node itself: words until somebody wants to change it, the field's own control then. */
export const InlineField = memo(function InlineField({
  nodeId,
  field,
  top,
}: {
  nodeId: string;
  field: FieldTemplate;
  top: number;
}) {
  const t = useCanvasTexts();
  const [editing, setEditing] = useState(false);
  const value = useDraft((state) => state.document.nodes[nodeId]?.params?.[field.name]);
  const editable = useDraft((state) => state.editable);
  const issue = useDraft((state) => issuesOf(state.issues, nodeId).find((one) => one.field === field.name));
  const mark = issue && MARKS[stateOf([issue]) ?? "warning"];
  const label = field.label || field.name;
  const shown = said(value ?? field.default ?? null, t("yes"), t("no"));
  return (
    <div className="absolute inset-x-2.5" style={{ top }}>
      <button
        type="button"
        disabled={!editable}
        title={issue?.message ?? (shown ? `${label}: ${shortened(shown, 400)}` : label)}
        aria-label={`${label}: ${shown || t("empty")}`}
        className={cx(
          "nodrag flex h-7 w-full items-center gap-2 rounded-md border bg-sunken px-2 text-left text-xs hover:border-line-strong",
          mark?.border ?? "border-line",
        )}
        onClick={() => setEditing(true)}
      >
        <span className={cx("shrink-0", mark?.label ?? "text-faint")}>{label}</span>
        <span className="min-w-0 flex-1 truncate text-right text-ink">{shown}</span>
      </button>
      {editing && (
        <Suspense>
          <Editor nodeId={nodeId} field={field} onDone={() => setEditing(false)} />
        </Suspense>
      )}
    </div>
  );
});

/** A value in one line of words. */
function said(value: JsonValue, yes: string, no: string): string {
  if (value === null || value === "") return "";
  if (typeof value === "boolean") return value ? yes : no;
  if (typeof value === "object")
    return Object.values(value)
      .filter((one) => typeof one === "string")
      .join(" · ");
  return shortened(String(value), 200);
}
