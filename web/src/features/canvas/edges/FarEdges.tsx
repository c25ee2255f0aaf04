import { ViewportPortal } from "@xyflow/react";
import { memo, useMemo, useState } from "react";
import type { EdgeKind } from "@/lib/ports";
import type { CanvasEdge } from "../model/flowEdges";
import type { CanvasNode } from "../model/flowNodes";
import { curve, endsOf } from "../model/paths";

interface Props {
  edges: readonly CanvasEdge[];
  nodes: readonly CanvasNode[];
  /** Nodes that are being dragged: their edges are drawn apart, so that the others stay as they are drawn. */
  moving: ReadonlySet<string>;
}

type Paths = Record<EdgeKind, string>;

const KINDS: readonly EdgeKind[] = ["data", "model", "tool"];

/** All edges as a few paths, for a view so far out that no edge is pointed at. */
export function FarEdges({ edges, nodes, moving }: Props) {
  const byId = useMemo(() => new Map(nodes.map((node) => [node.id, node])), [nodes]);
  const [rest, carried] = useMemo(() => {
    const isMoving = (edge: CanvasEdge) => moving.has(edge.source) || moving.has(edge.target);
    return [edges.filter((edge) => !isMoving(edge)), edges.filter(isMoving)];
  }, [edges, moving]);
  // While something is dragged the others stay where they are: the paths of before are kept.
  const [still, setStill] = useState<{ of: readonly CanvasEdge[]; nodes: typeof byId; paths: Paths } | null>(null);
  const fresh = still !== null && still.of === rest && (moving.size > 0 || still.nodes === byId);
  const paths = fresh ? still.paths : pathsOf(rest, byId);
  if (!fresh) setStill({ of: rest, nodes: byId, paths });
  return (
    <ViewportPortal>
      <Layer paths={paths} />
      {carried.length > 0 && <Layer paths={pathsOf(carried, byId)} />}
    </ViewportPortal>
  );
}

const Layer = memo(function Layer({ paths }: { paths: Paths }) {
  return (
    <svg aria-hidden className="pointer-events-none absolute top-0 left-0 -z-10 size-px overflow-visible">
      {KINDS.map((kind) => (
        <path key={kind} d={paths[kind]} fill="none" className={`wire wire-far wire-${kind}`} />
      ))}
    </svg>
  );
});

function pathsOf(edges: readonly CanvasEdge[], nodes: ReadonlyMap<string, CanvasNode>): Paths {
  const found: Paths = { data: "", model: "", tool: "" };
  for (const edge of edges) {
    const flow = {
      source: edge.source,
      output: edge.sourceHandle ?? "",
      target: edge.target,
      input: edge.targetHandle ?? "",
    };
    const ends = endsOf(flow, nodes);
    if (ends) found[edge.data?.kind ?? "data"] += curve(...ends);
  }
  return found;
}
