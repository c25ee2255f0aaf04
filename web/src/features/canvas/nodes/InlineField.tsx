import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowUpRight, Workflow } from "lucide-react";
import { memo, type ReactNode, Suspense, useState } from "react";
import { calledFlowQuery, flowNamed } from "@/api/queries/calledFlow";
import type { FieldTemplate, JsonValue } from "@/api/types";
import { cx } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { part } from "@/lib/part";
import { shortened } from "@/lib/shortened";
import { issuesOf, stateOf } from "../model/issues";
import { toggleRegion } from "../model/regions";
import { useView } from "../model/view";
import { useCanvasTexts } from "../texts";

const MARKS = {
  wrong: { border: "border-bad", label: "text-bad" },
  needs: { border: "border-warn border-dashed", label: "text-warn" },
  warning: { border: "border-warn", label: "text-warn" },
};
const Editor = part(() => import("./InlineEditor"));

interface Props {
  nodeId: string;
  field: FieldTemplate;
  top: number;
}

/** A value on the node itself: words until somebody wants to change it, the field's own control then. */
export const InlineField = memo(function InlineField(props: Props) {
  const { nodeId, field } = props;
  const t = useCanvasTexts();
  const value = useDraft((state) => state.document.nodes[nodeId]?.params?.[field.name]) ?? field.default ?? null;
  return field.kind === "flow" ? (
    <FlowRow {...props} value={value} />
  ) : (
    <Row {...props} shown={said(value, t("yes"), t("no"))} />
  );
});

/** The flow that a step runs, by its name, with a link that opens it. */
function FlowRow({ value, ...props }: Props & { value: JsonValue }) {
  const t = useCanvasTexts();
  const space = useDraft((state) => state.spaceId);
  const named = flowNamed(value);
  const { data, isError } = useQuery(calledFlowQuery(named, space));
  const name = named && (data?.name ?? (isError ? t("flow_gone") : "…"));
  return (
    <Row {...props} shown={name}>
      {named && (
        <>
          <StepsButton nodeId={props.nodeId} />
          {data?.id && (
            <Link
              to="/flows/$flowId"
              params={{ flowId: data.id }}
              aria-label={t("open_flow", { name })}
              title={t("open_flow", { name })}
              className="nodrag absolute inset-y-0 right-0 flex w-7 items-center justify-center rounded-md text-faint hover:text-ink"
            >
              <ArrowUpRight aria-hidden className="size-3.5" />
            </Link>
          )}
        </>
      )}
    </Row>
  );
}

/** Shows the steps of the flow below the node, and hides them. */
function StepsButton({ nodeId }: { nodeId: string }) {
  const t = useCanvasTexts();
  const store = useDraftStore();
  const open = useView((state) => nodeId in state.regions);
  const label = t(open ? "hide_steps" : "show_steps");
  return (
    <button
      type="button"
      aria-expanded={open}
      aria-label={label}
      title={label}
      className={cx(
        "nodrag absolute inset-y-0 right-6 flex w-6 items-center justify-center rounded-md hover:text-ink",
        open ? "text-accent" : "text-faint",
      )}
      onClick={(event) => {
        event.stopPropagation();
        toggleRegion(store, nodeId);
      }}
    >
      <Workflow aria-hidden className="size-3.5" />
    </button>
  );
}

function Row({ nodeId, field, top, shown, children }: Props & { shown: string; children?: ReactNode }) {
  const t = useCanvasTexts();
  const [editing, setEditing] = useState(false);
  const editable = useDraft((state) => state.editable);
  const issue = useDraft((state) => issuesOf(state.issues, nodeId).find((one) => one.field === field.name));
  const mark = issue && MARKS[stateOf([issue]) ?? "warning"];
  const label = field.label || field.name;
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
          children && "pr-13",
        )}
        onClick={() => setEditing(true)}
      >
        <span className={cx("shrink-0", mark?.label ?? "text-faint")}>{`${label} `}</span>
        <span className="min-w-0 flex-1 truncate text-right text-ink">{shown}</span>
      </button>
      {children}
      {editing && (
        <Suspense>
          <Editor nodeId={nodeId} field={field} onDone={() => setEditing(false)} />
        </Suspense>
      )}
    </div>
  );
}

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
