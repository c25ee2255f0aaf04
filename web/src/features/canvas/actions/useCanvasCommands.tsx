import {
  BoxSelect,
  Cable,
  ClipboardPaste,
  Copy,
  CopyPlus,
  Group,
  LayoutDashboard,
  Lock,
  Map as MapIcon,
  Maximize,
  PencilLine,
  Plus,
  Redo2,
  Scissors,
  Search,
  StickyNote,
  Trash2,
  Undo2,
  Ungroup,
} from "lucide-react";
import { KindIcon } from "@/components/icons";
import { type Command, useCommands } from "@/lib/commands/commands";
import { useDraft } from "@/lib/draft";
import { ALIGNMENTS } from "@/lib/layout";
import { type Stage, show } from "../model/stage";
import { useView } from "../model/view";
import { composingCommands } from "./composingItems";
import { add, copy, cut, duplicate, pasteFromClipboard, redo, removeSelected, undo } from "./nodes";
import { addNote, alignSelected, distributeSelected, groupSelected, layOut, ungroup } from "./places";

/** Everything that the canvas can do, for the command palette. What makes no sense now is not offered. */
export function useCanvasCommands(stage: Stage): void {
  const editable = useDraft((state) => state.editable);
  useCommands("canvas", () => [...(editable ? [...adding(stage), ...onSelection(stage)] : []), ...looking(stage)]);
}

const command = (stage: Stage, more: Omit<Command, "group">): Command => ({ group: stage.t("canvas"), ...more });

function adding(stage: Stage): Command[] {
  const { t } = stage;
  const set = useView.getState().set;
  const state = stage.store.getState();
  return [
    command(stage, {
      id: "canvas.add",
      label: t("add_node"),
      icon: <Plus />,
      shortcut: "add_node",
      run: () => set({ adding: { kind: "node", screen: null, at: null } }),
    }),
    ...Object.values(state.templates).map((template) =>
      command(stage, {
        id: `canvas.add.${template.type}`,
        label: t("add_what", { what: template.label }),
        keywords: `${template.type} ${(template.keywords ?? []).join(" ")}`,
        icon: <KindIcon template={template} />,
        searchedOnly: true,
        run: () => add(stage, template, null),
      }),
    ),
    command(stage, {
      id: "canvas.note",
      label: t("add_note"),
      icon: <StickyNote />,
      shortcut: "add_note",
      run: () => addNote(stage),
    }),
    command(stage, {
      id: "canvas.paste",
      label: t("paste"),
      icon: <ClipboardPaste />,
      shortcut: "paste",
      run: () => void pasteFromClipboard(stage),
    }),
    command(stage, {
      id: "canvas.layout",
      label: t("layout"),
      keywords: t("layout_words"),
      icon: <LayoutDashboard />,
      shortcut: "layout",
      run: () => void layOut(stage),
    }),
    ...(state.past.length > 0
      ? [
          command(stage, {
            id: "canvas.undo",
            label: t("undo_what", { what: state.past.at(-1)?.label ?? "" }),
            icon: <Undo2 />,
            shortcut: "undo",
            run: () => undo(stage),
          }),
        ]
      : []),
    ...(state.future.length > 0
      ? [
          command(stage, {
            id: "canvas.redo",
            label: t("redo_what", { what: state.future.at(-1)?.label ?? "" }),
            icon: <Redo2 />,
            shortcut: "redo",
            run: () => redo(stage),
          }),
        ]
      : []),
  ];
}

function onSelection(stage: Stage): Command[] {
  const { t } = stage;
  const { selectedNodes, selectedEdges, document } = stage.store.getState();
  const [only] = selectedNodes;
  const set = useView.getState().set;
  if (selectedNodes.length === 0 && selectedEdges.length === 0) return [];
  const found = [
    command(stage, {
      id: "canvas.delete",
      label: t("delete"),
      icon: <Trash2 />,
      shortcut: "delete",
      run: () => removeSelected(stage),
    }),
  ];
  if (selectedNodes.length === 0) return found;
  found.push(
    command(stage, {
      id: "canvas.copy",
      label: t("copy"),
      icon: <Copy />,
      shortcut: "copy",
      run: () => void copy(stage),
    }),
    command(stage, {
      id: "canvas.cut",
      label: t("cut"),
      icon: <Scissors />,
      shortcut: "cut",
      run: () => void cut(stage),
    }),
    command(stage, {
      id: "canvas.duplicate",
      label: t("duplicate"),
      icon: <CopyPlus />,
      shortcut: "duplicate",
      run: () => duplicate(stage),
    }),
    command(stage, {
      id: "canvas.group",
      label: t("group_selection"),
      icon: <Group />,
      shortcut: "group",
      run: () => groupSelected(stage),
    }),
  );
  found.push(...composingCommands(stage).map((one) => command(stage, one)));
  if (selectedNodes.some((id) => document.nodes[id]?.type === "Group")) {
    found.push(
      command(stage, { id: "canvas.ungroup", label: t("ungroup"), icon: <Ungroup />, run: () => ungroup(stage) }),
    );
  }
  if (selectedNodes.length === 1 && only) {
    found.push(
      command(stage, {
        id: "canvas.rename",
        label: t("rename"),
        icon: <PencilLine />,
        shortcut: "rename",
        run: () => setTimeout(() => set({ renaming: only }), 60),
      }),
      command(stage, {
        id: "canvas.connect",
        label: t("connect_from"),
        icon: <Cable />,
        run: () => set({ connectingFrom: only }),
      }),
    );
  }
  if (selectedNodes.length > 1) {
    for (const how of ALIGNMENTS) {
      found.push(
        command(stage, { id: `canvas.align.${how}`, label: t(`align_${how}`), run: () => alignSelected(stage, how) }),
      );
    }
    for (const axis of ["horizontal", "vertical"] as const) {
      found.push(
        command(stage, {
          id: `canvas.spread.${axis}`,
          label: t(`distribute_${axis}`),
          run: () => distributeSelected(stage, axis),
        }),
      );
    }
  }
  return found;
}

function looking(stage: Stage): Command[] {
  const { t } = stage;
  const view = useView.getState();
  return [
    command(stage, {
      id: "canvas.find",
      label: t("find_node"),
      icon: <Search />,
      shortcut: "search",
      run: () => view.set({ finding: true }),
    }),
    command(stage, {
      id: "canvas.all",
      label: t("select_all"),
      icon: <BoxSelect />,
      shortcut: "select_all",
      run: () => stage.store.getState().select(stage.store.getState().document.order),
    }),
    command(stage, { id: "canvas.fit", label: t("fit"), icon: <Maximize />, shortcut: "fit", run: () => show(stage) }),
    command(stage, {
      id: "canvas.lock",
      label: view.locked ? t("unlock") : t("lock"),
      icon: <Lock />,
      run: () => view.set({ locked: !view.locked }),
    }),
    command(stage, {
      id: "canvas.map",
      label: view.minimap ? t("hide_map") : t("show_map"),
      icon: <MapIcon />,
      run: () => view.set({ minimap: !view.minimap }),
    }),
  ];
}
