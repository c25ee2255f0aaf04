import { cx } from "@/components/ui";
import type { DrawnEdge } from "./geometry";
import type { Mark } from "./looks";
import { MARK_STROKES, PORT_STROKES } from "./looks";

/** An edge: solid where data goes, short dashes to what configures a step, long ones where a step takes all before it. */
export function DrawnLine({ edge, mark }: { edge: DrawnEdge; mark: Mark | undefined }) {
  return (
    <path
      d={edge.path}
      data-edge={edge.id}
      fill="none"
      strokeWidth={mark ? 3 : 2}
      strokeLinecap="round"
      strokeDasharray={
        edge.kind === "configures" ? "2 6" : edge.kind === "gathers" || mark === "removed" ? "8 6" : undefined
      }
      className={cx(
        mark ? MARK_STROKES[mark] : (PORT_STROKES[edge.port ?? ""] ?? "stroke-faint"),
        !mark && "opacity-70",
      )}
    />
  );
}
