import { type KeyboardEvent, useMemo, useState } from "react";
import type { Flow, StepSummary, Template } from "@/api/types";
import { cx } from "@/components/ui";
import { DrawnBox } from "./DrawnBox";
import { DrawnLine } from "./DrawnLine";
import { drawing, neighbour } from "./geometry";
import type { Mark } from "./looks";

interface FlowDrawingProps {
  flow: Flow;
  templates?: Record<string, Template>;
  statuses?: Record<string, StepSummary["status"]>;
  marks?: Record<string, Mark>;
  /** Marks of edges, by `source.output>target.input`. */
  edgeMarks?: Record<string, Mark>;
  selected?: string | undefined;
  /** A node was chosen by mouse, or by arrow keys and Enter. */
  onSelect?: (nodeId: string) => void;
  /** A small picture: steps stand close, in lines, without notes. */
  compact?: boolean;
  /** What the picture shows: its name for those who do not see it. */
  title: string;
  className?: string;
}

/** A flow as a picture that fits where it stands. It follows light and dark, and does nothing but be looked at and chosen in. */
export function FlowDrawing({
  flow,
  templates,
  title,
  className,
  onSelect,
  selected,
  compact,
  ...looks
}: FlowDrawingProps) {
  const drawn = useMemo(() => drawing(flow, templates, compact), [flow, templates, compact]);
  const [reached, setReached] = useState<string>();
  const stop = [reached, selected].find((id) => drawn.nodes.some((node) => node.id === id)) ?? drawn.nodes[0]?.id;
  const move = (event: KeyboardEvent<SVGSVGElement>) => {
    const here = event.target instanceof Element ? event.target.closest<SVGGElement>("[data-node]") : null;
    const from = here?.dataset.node ?? stop;
    if (!onSelect || !from) return;
    const next = neighbour(drawn.nodes, from, event.key);
    if (next) {
      event.preventDefault();
      setReached(next);
      const boxes = event.currentTarget.querySelectorAll<SVGGElement>("[data-node]");
      [...boxes].find((box) => box.dataset.node === next)?.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      setReached(from);
      onSelect(from);
    }
  };
  return (
    <svg
      role={onSelect ? "group" : "img"}
      aria-label={title}
      viewBox={`0 0 ${drawn.width} ${drawn.height}`}
      preserveAspectRatio="xMidYMid meet"
      className={cx("block size-full select-none", className)}
      onKeyDown={move}
    >
      {drawn.nodes.map(
        (node) => node.note !== null && <DrawnBox key={node.id} node={node} mark={looks.marks?.[node.id]} />,
      )}
      {drawn.edges.map((edge) => (
        <DrawnLine key={edge.id} edge={edge} mark={looks.edgeMarks?.[edge.id]} />
      ))}
      {drawn.nodes.map(
        (node) =>
          node.note === null && (
            <DrawnBox
              key={node.id}
              node={node}
              mark={looks.marks?.[node.id]}
              status={looks.statuses?.[node.id]}
              selected={selected === node.id}
              stop={stop === node.id}
              onSelect={
                onSelect &&
                (() => {
                  setReached(node.id);
                  onSelect(node.id);
                })
              }
            />
          ),
      )}
    </svg>
  );
}
