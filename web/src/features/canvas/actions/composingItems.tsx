import { FolderOutput, UnfoldHorizontal } from "lucide-react";
import type { MenuItem } from "@/components/ui";
import type { Command } from "@/lib/commands/commands";
import type { Stage } from "../model/stage";
import { useView } from "../model/view";
import { extractable, inlinable, inlineStep, runsFlow } from "./composing";

const ask = (ids: string[]) => useView.getState().set({ extracting: ids });

/** Extracting steps into a flow, and inlining one, in the menu of a node; `id` is the only selected one. */
export function composingItems(stage: Stage, id: string | null, editable: boolean, only: () => void): MenuItem[] {
  const extract: MenuItem = {
    id: "extract",
    label: stage.t("extract"),
    icon: <FolderOutput />,
    keys: "$mod+Shift+e",
    disabled: !editable,
    onSelect: () => {
      only();
      setTimeout(() => ask(extractable(stage)), 0);
    },
  };
  if (!id || !runsFlow(stage, id)) return [extract];
  const inline: MenuItem = {
    id: "inline",
    label: stage.t("inline"),
    icon: <UnfoldHorizontal />,
    keys: "$mod+Shift+i",
    disabled: !editable,
    onSelect: () => void inlineStep(stage, id),
  };
  return [extract, inline];
}

/** The same for the command palette; what makes no sense now is not offered. */
export function composingCommands(stage: Stage): Omit<Command, "group">[] {
  const [ids, call] = [extractable(stage), inlinable(stage)];
  const commands: Omit<Command, "group">[] = [];
  if (ids.length > 0) {
    commands.push({
      id: "canvas.extract",
      label: stage.t("extract"),
      icon: <FolderOutput />,
      shortcut: "extract",
      run: () => ask(ids),
    });
  }
  if (call) {
    commands.push({
      id: "canvas.inline",
      label: stage.t("inline"),
      icon: <UnfoldHorizontal />,
      shortcut: "inline",
      run: () => void inlineStep(stage, call),
    });
  }
  return commands;
}
