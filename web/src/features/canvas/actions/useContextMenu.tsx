import { BoxSelect, ClipboardPaste, LayoutDashboard, Maximize, Plus, StickyNote, Unplug } from "lucide-react";
import { type MouseEvent, useMemo, useState } from "react";
import type { MenuItem } from "@/components/ui";
import { nodeAt } from "../far/hits";
import type { Stage } from "../model/stage";
import { show } from "../model/stage";
import { type Spot, useView } from "../model/view";
import { pasteFromClipboard, removeSelected } from "./nodes";
import { addNote, layOut } from "./places";
import { useNodeMenu } from "./useNodeMenu";

interface Target {
  kind: "pane" | "node" | "edge";
  id: string;
  screen: Spot;
}

const PANE: Target = { kind: "pane", id: "", screen: { x: 0, y: 0 } };

/** The menu of what is under the pointer: a node, an edge, or the canvas. */
export function useContextMenu(stage: Stage) {
  const [target, setTarget] = useState(PANE);
  const nodeItems = useNodeMenu(target.id);
  const items = useMemo(
    () =>
      target.kind === "node" ? nodeItems : target.kind === "edge" ? edgeItems(stage, target) : paneItems(stage, target),
    [stage, target, nodeItems],
  );
  const onContextMenu = (event: MouseEvent) => {
    const at = event.target instanceof Element ? event.target : null;
    const node = at?.closest<HTMLElement>(".react-flow__node")?.dataset.id ?? farNode(stage, event);
    const edge = at?.closest<HTMLElement>(".react-flow__edge")?.dataset.id;
    const state = stage.store.getState();
    const screen = { x: event.clientX, y: event.clientY };
    if (node) {
      if (!state.selectedNodes.includes(node)) state.select([node]);
      setTarget({ kind: "node", id: node, screen });
    } else if (edge) {
      state.select([], [edge]);
      setTarget({ kind: "edge", id: edge, screen });
    } else setTarget({ kind: "pane", id: "", screen });
  };
  return { items, onContextMenu };
}

/** The node that is drawn there in the far view, where nodes are no elements. */
function farNode(stage: Stage, event: MouseEvent): string | undefined {
  if (!useView.getState().far) return undefined;
  const at = stage.flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
  return nodeAt(stage.drawn.nodes, at.x, at.y, stage.flow.getZoom())?.id;
}

function edgeItems(stage: Stage, { id, screen }: Target): MenuItem[] {
  const { t } = stage;
  const edge = stage.store.getState().document.edges[id];
  const at = stage.flow.screenToFlowPosition(screen);
  const insert = () => edge && useView.getState().set({ adding: { kind: "insert", screen, at, edgeId: id, edge } });
  return [
    { id: "insert", label: t("insert"), icon: <Plus />, onSelect: () => void setTimeout(insert, 0) },
    {
      id: "disconnect",
      label: t("disconnect"),
      icon: <Unplug />,
      keys: "Delete",
      danger: true,
      onSelect: () => removeSelected(stage),
    },
  ];
}

function paneItems(stage: Stage, { screen }: Target): MenuItem[] {
  const { t } = stage;
  const at = stage.flow.screenToFlowPosition(screen);
  const open = () => useView.getState().set({ adding: { kind: "node", screen, at } });
  return [
    { id: "add", label: t("add_node"), icon: <Plus />, keys: "n", onSelect: () => void setTimeout(open, 0) },
    { id: "note", label: t("add_note"), icon: <StickyNote />, keys: "Shift+n", onSelect: () => addNote(stage) },
    {
      id: "paste",
      label: t("paste"),
      icon: <ClipboardPaste />,
      keys: "$mod+v",
      onSelect: () => void pasteFromClipboard(stage),
    },
    { kind: "line", id: "l1" },
    {
      id: "all",
      label: t("select_all"),
      icon: <BoxSelect />,
      keys: "$mod+a",
      onSelect: () => stage.store.getState().select(stage.store.getState().document.order),
    },
    {
      id: "layout",
      label: t("layout"),
      icon: <LayoutDashboard />,
      keys: "Shift+l",
      onSelect: () => void layOut(stage),
    },
    { id: "fit", label: t("fit"), icon: <Maximize />, keys: "Shift+1", onSelect: () => show(stage) },
  ];
}
