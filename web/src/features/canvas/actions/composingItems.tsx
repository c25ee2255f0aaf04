import { FolderOutput, Repeat, UnfoldHorizontal, Workflow } from "lucide-react";
import type { MenuItem } from "@/components/ui";
import type { Command } from "@/lib/commands/commands";
import { flowField, toggleRegion } from "../model/regions";
import type { Stage } from "../model/stage";
import { type Repeat as Repetition, useView } from "../model/view";
import { extractable, inlinable, inlineStep, runsFlow } from "./composing";

export const askExtract = (ids: string[], repeat: Repetition = "once") =>
  useView.getState().set({ extracting: { ids, repeat } });

/** Extracting steps into a flow, and inlining one, in the menu of a node; `id` is the only selected one, `open` whether its steps are shown. */
export function composingItems(
  stage: Stage,
  id: string | null,
  editable: boolean,
  open: boolean,
  only: () => void,
): MenuItem[] {
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
    icon: <Repeat />,
    disabled: !editable,
    onSelect: () => {
      only();
      setTimeout(() => askExtract(extractable(stage), "each"), 0);
    },
  };
  const steps = id && flowField(stage.store, id) ? [showing(stage, id, open)] : [];
  if (!id || !runsFlow(stage, id)) return [extract, repeat, ...steps];
  const inline: MenuItem = {
    id: "inline",
    label: stage.t("inline"),
    icon: <UnfoldHorizontal />,
    keys: "$mod+Shift+i",
    disabled: !editable,
    onSelect: () => void inlineStep(stage, id),
  };
  return [extract, repeat, inline, ...steps];
}

const showing = (stage: Stage, id: string, open: boolean) => ({
  id: "steps",
  label: stage.t(open ? "hide_steps" : "show_steps"),
  icon: <Workflow />,
  keys: "s",
  onSelect: () => setTimeout(() => toggleRegion(stage.store, id), 0),
});

/** The same for the command palette; what makes no sense now is not offered. */
export function composingCommands(stage: Stage): Omit<Command, "group">[] {
  const [ids, call] = [extractable(stage), inlinable(stage)];
  const commands: Omit<Command, "group">[] = [];
  const [only, more] = stage.store.getState().selectedNodes;
  if (only && !more && flowField(stage.store, only)) {
    const { label, icon } = showing(stage, only, only in useView.getState().regions);
    commands.push({ id: "canvas.steps", label, icon, run: () => toggleRegion(stage.store, only) });
  }
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
      icon: <Repeat />,
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
