import { FolderOutput, Repeat2, UnfoldHorizontal } from "lucide-react";
import type { MenuItem } from "@/components/ui";
import type { Command } from "@/lib/commands/commands";
import type { Stage } from "../model/stage";
import { type Repeat, useView } from "../model/view";
import { extractable, inlinable, inlineStep, runsFlow } from "./composing";

export const askExtract = (ids: string[], repeat: Repeat = "once") =>
  useView.getState().set({ extracting: { ids, repeat } });

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
      setTimeout(() => askExtract(extractable(stage)), 0);
    },
  };
  const repeat: MenuItem = {
    id: "repeat",
    label: stage.t("repeat"),
    icon: <Repeat2 />,
    disabled: !editable,
    onSelect: () => {
      only();
      setTimeout(() => askExtract(extractable(stage), "each"), 0);
    },
  };
  if (!id || !runsFlow(stage, id)) return [extract, repeat];
  const inline: MenuItem = {
    id: "inline",
    label: stage.t("inline"),
    icon: <UnfoldHorizontal />,
    keys: "$mod+Shift+i",
    disabled: !editable,
    onSelect: () => void inlineStep(stage, id),
  };
  return [extract, repeat, inline];
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
      run: () => askExtract(ids),
    });
    commands.push({
      id: "canvas.repeat",
      label: stage.t("repeat"),
      icon: <Repeat2 />,
      run: () => askExtract(ids, "each"),
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
