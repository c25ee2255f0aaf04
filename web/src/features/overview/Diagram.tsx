import "@xyflow/react/dist/base.css";
import { Background, Controls, MiniMap, ReactFlow } from "@xyflow/react";
import { useMemo } from "react";
import type { GraphOut } from "@/api/queries/overview";
import { useDraftParts } from "@/lib/draft";
import { type DrawnNode, drawnEdges, drawnNodes } from "./drawn";
import { ROLE_FILLS, roleOf, STATUS_FILLS } from "./looks";
import { FrameBox, NoteBox, StepBox } from "./StepBox";
import { useOverviewTexts } from "./texts";

const NODE_TYPES = { step: StepBox, note: NoteBox, frame: FrameBox };

const fillOf = ({ type, data: { node } }: DrawnNode) => {
  if (type !== "step") return "!fill-hover";
  return node.run ? STATUS_FILLS[node.run.status] : ROLE_FILLS[roleOf(node)];
};

/** The picture: it can be moved and zoomed, and nothing else. What it shows stands in the list beside it too. */
export default function Diagram({ graph }: { graph: GraphOut }) {
  const t = useOverviewTexts();
  const { templates, nodes: own } = useDraftParts((state) => ({
    templates: state.templates,
    nodes: state.document.nodes,
  }));
  const nodes = useMemo(() => {
    const params = Object.fromEntries(Object.values(own).map((node) => [node.id, node.params]));
    return drawnNodes(graph, templates, params);
  }, [graph, templates, own]);
  const labels = useMemo(
    () => ({
      "controls.zoomIn.ariaLabel": t("zoom_in"),
      "controls.zoomOut.ariaLabel": t("zoom_out"),
      "controls.fitView.ariaLabel": t("fit"),
    }),
    [t],
  );
  const edges = useMemo(() => drawnEdges(graph), [graph]);
  return (
    <ReactFlow
      key={`${graph.run_id ?? "draft"}`}
      aria-label={t("diagram")}
      ariaLabelConfig={labels}
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      disableKeyboardA11y
      onlyRenderVisibleElements={nodes.length > 200}
      fitView
      fitViewOptions={{ padding: 0.15, maxZoom: 1.1 }}
      minZoom={0.05}
      maxZoom={2}
      proOptions={{ hideAttribution: true }}
    >
      <Background gap={24} className="!bg-canvas" color="var(--line)" />
      <Controls
        showInteractive={false}
        aria-label={t("zoom")}
        className="overflow-hidden rounded-md border border-line bg-raised shadow-card [&_button]:flex [&_button]:size-8 [&_button]:items-center [&_button]:justify-center [&_button]:hover:bg-hover [&_svg]:size-3.5 [&_svg]:fill-ink"
      />
      <MiniMap
        pannable
        zoomable
        ariaLabel={t("minimap")}
        nodeClassName={(node) => fillOf(node as DrawnNode)}
        nodeBorderRadius={12}
        maskColor="color-mix(in srgb, var(--ink) 7%, transparent)"
        bgColor="var(--surface)"
        className="!hidden overflow-hidden rounded-lg border border-line bg-surface shadow-card sm:!block"
      />
    </ReactFlow>
  );
}
