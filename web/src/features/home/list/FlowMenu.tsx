import { Copy, Download, FolderInput, Hammer, MoreHorizontal, Pencil, SquarePen, Trash2 } from "lucide-react";
import { useState } from "react";
import type { FlowItem } from "@/api/queries/flowList";
import { useRights } from "@/api/rights";
import { IconButton, Menu, type MenuItem } from "@/components/ui";
import { useHomeTexts } from "../texts";
import { useSpaces } from "../useSpaces";
import { RenameDialog } from "./RenameDialog";
import { useFlowActions } from "./useFlowActions";

/** What can be done with a flow in the list. */
export function FlowMenu({ item }: { item: FlowItem }) {
  const t = useHomeTexts();
  const act = useFlowActions();
  const [renaming, setRenaming] = useState(false);
  const { may } = useRights();
  const edits = may("flows.edit", item.space_id);
  const others = useSpaces().filter((space) => space.id !== item.space_id && may("flows.edit", space.id));
  const entries: MenuItem[] = [
    { id: "open", label: t("open"), icon: <SquarePen />, onSelect: () => act.open(item.id) },
    ...(edits
      ? [
          { id: "rename", label: t("rename"), icon: <Pencil />, onSelect: () => setRenaming(true) },
          { id: "develop", label: t("develop_flow"), icon: <Hammer />, onSelect: () => act.develop(item.id) },
          { id: "duplicate", label: t("duplicate"), icon: <Copy />, onSelect: () => void act.duplicate(item) },
        ]
      : []),
    ...others.slice(0, 12).map((space) => ({
      id: `to-${space.id}`,
      label: t("copy_to", { space: space.name }),
      icon: <FolderInput />,
      onSelect: () => void act.duplicate(item, space.id),
    })),
    { kind: "line", id: "line" },
    { id: "json", label: t("export_json"), icon: <Download />, onSelect: () => void act.download(item, "json") },
    { id: "spec", label: t("export_spec"), icon: <Download />, onSelect: () => void act.download(item, "spec") },
    ...(edits
      ? [
          { kind: "line" as const, id: "line2" },
          { id: "delete", label: t("delete"), icon: <Trash2 />, danger: true, onSelect: () => void act.remove(item) },
        ]
      : []),
  ];
  return (
    <>
      <Menu items={entries}>
        <IconButton size="sm" label={t("actions", { name: item.name })}>
          <MoreHorizontal />
        </IconButton>
      </Menu>
      {renaming && <RenameDialog item={item} onClose={() => setRenaming(false)} />}
    </>
  );
}
