import {
  AlignHorizontalDistributeCenter,
  AlignStartHorizontal,
  AlignStartVertical,
  Ban,
  Cable,
  CirclePlay,
  Code,
  Copy,
  CopyPlus,
  Group,
  PencilLine,
  Pin,
  PinOff,
  Play,
  Scissors,
  StepForward,
  Trash2,
  Ungroup,
} from "lucide-react";
import { useMemo } from "react";
import type { MenuItem } from "@/components/ui";
import { breakable, toggleBreakpoint } from "@/lib/breakpoints";
import { useDraft } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { useRequests } from "@/lib/requests";
import { type Stage, useStage } from "../model/stage";
import { useView } from "../model/view";
import { composingItems } from "./composingItems";
import { copy, cut, duplicate, removeSelected, toggleDisabled } from "./nodes";
import { pinShown } from "./pinning";
import { alignSelected, distributeSelected, groupSelected, ungroup } from "./places";

/** What can be done with a node, and with it what is selected beside it. */
export function useNodeMenu(id: string): MenuItem[] {
  const stage = useStage();
  const t = stage.t;
  const type = useDraft((state) => state.document.nodes[id]?.type);
  const annotation = useDraft((state) => state.templates[type ?? ""]?.annotation ?? false);
  const pinned = useDraft((state) => id in state.pinned);
  const stops = useDraft((state) => state.breakpoints.includes(id));
  const step = useDraft((state) => breakable(state, id));
  const disabled = useDraft((state) => (state.document.nodes[id]?.policy?.disabled ?? "no") !== "no");
  const ran = useDraft((state) => state.nodeRuns[id]?.status === "completed");
  const several = useDraft((state) => state.selectedNodes.length > 1 && state.selectedNodes.includes(id));
  const editable = useDraft((state) => state.editable);
  const open = useView((state) => id in state.regions);
  return useMemo(() => {
    const only = () => {
      const state = stage.store.getState();
      if (!state.selectedNodes.includes(id)) state.select([id]);
    };
    const run = useRequests.getState().requestRun;
    const running: MenuItem[] =
      annotation || several
        ? []
        : [
            {
              id: "run",
              label: t("run_node"),
              icon: <Play />,
              disabled: !editable,
              onSelect: () => run("node", id),
            },
            {
              id: "from",
              label: t("run_from"),
              icon: <StepForward />,
              disabled: !editable,
              onSelect: () => run("from", id),
            },
            pinned
              ? {
                  id: "unpin",
                  label: t("unpin"),
                  icon: <PinOff />,
                  onSelect: () => stage.store.getState().pin(id, null),
                }
              : {
                  id: "pin",
                  label: t("pin"),
                  icon: <Pin />,
                  disabled: !ran || !editable,
                  onSelect: () => void pinShown(stage, id),
                },
            breakpoint(stage, id, stops, step),
            {
              id: "connect",
              label: t("connect_from"),
              icon: <Cable />,
              keys: "c",
              disabled: !editable,
              onSelect: () => useView.getState().set({ connectingFrom: id }),
            },
            {
              id: "code",
              label: t("edit_code"),
              icon: <Code />,
              onSelect: () => {
                stage.store.getState().select([id]);
                usePanels.getState().setOpen("inspector", true);
              },
            },
            { kind: "line", id: "l1" },
          ];
    const arranging: MenuItem[] = several
      ? [
          {
            id: "left",
            label: t("align_left"),
            icon: <AlignStartVertical />,
            onSelect: () => alignSelected(stage, "left"),
          },
          {
            id: "top",
            label: t("align_top"),
            icon: <AlignStartHorizontal />,
            onSelect: () => alignSelected(stage, "top"),
          },
          {
            id: "spread",
            label: t("distribute_horizontal"),
            icon: <AlignHorizontalDistributeCenter />,
            onSelect: () => distributeSelected(stage, "horizontal"),
          },
          { kind: "line", id: "l2" },
        ]
      : [];
    return [
      ...running,
      ...arranging,
      {
        id: "rename",
        label: t("rename"),
        icon: <PencilLine />,
        keys: "F2",
        disabled: !editable || type === "Note",
        onSelect: () => setTimeout(() => useView.getState().set({ renaming: id }), 60),
      },
      {
        id: "copy",
        label: t("copy"),
        icon: <Copy />,
        keys: "$mod+c",
        onSelect: () => {
          only();
          void copy(stage);
        },
      },
      {
        id: "cut",
        label: t("cut"),
        icon: <Scissors />,
        keys: "$mod+x",
        disabled: !editable,
        onSelect: () => {
          only();
          void cut(stage);
        },
      },
      {
        id: "duplicate",
        label: t("duplicate"),
        icon: <CopyPlus />,
        keys: "$mod+d",
        disabled: !editable,
        onSelect: () => {
          only();
          duplicate(stage);
        },
      },
      grouping(stage, type === "Group", editable, only),
      ...(annotation
        ? []
        : [
            ...composingItems(stage, several ? null : id, editable, open, only),
            disabling(stage, disabled, editable, only),
          ]),
      { kind: "line", id: "l3" },
      {
        id: "delete",
        label: t("delete"),
        icon: <Trash2 />,
        keys: "Delete",
        danger: true,
        disabled: !editable,
        onSelect: () => {
          only();
          removeSelected(stage);
        },
      },
    ] satisfies MenuItem[];
  }, [stage, t, id, type, annotation, pinned, stops, step, disabled, ran, several, editable, open]);
}

function breakpoint(stage: Stage, id: string, stops: boolean, step: boolean): MenuItem {
  return {
    id: "breakpoint",
    label: stage.t(stops ? "remove_breakpoint" : "set_breakpoint"),
    icon: <span className="m-0.5 size-3 shrink-0 rounded-full bg-bad" />,
    keys: "b",
    disabled: !step,
    onSelect: () => toggleBreakpoint(stage.store.getState(), id),
  };
}

function grouping(stage: Stage, isGroup: boolean, editable: boolean, only: () => void): MenuItem {
  return {
    id: isGroup ? "ungroup" : "group",
    label: stage.t(isGroup ? "ungroup" : "group_selection"),
    icon: isGroup ? <Ungroup /> : <Group />,
    ...(isGroup ? {} : { keys: "$mod+g" }),
    disabled: !editable,
    onSelect: () => {
      only();
      (isGroup ? ungroup : groupSelected)(stage);
    },
  };
}

function disabling(stage: Stage, disabled: boolean, editable: boolean, only: () => void): MenuItem {
  return {
    id: "disable",
    label: stage.t(disabled ? "enable" : "disable"),
    icon: disabled ? <CirclePlay /> : <Ban />,
    keys: "d",
    disabled: !editable,
    onSelect: () => {
      only();
      toggleDisabled(stage);
    },
  };
}
