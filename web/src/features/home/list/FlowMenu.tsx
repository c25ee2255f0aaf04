import {
  Copy,
  Download,
  FolderInput,
  Hammer,
  Link,
  MessageCircle,
  MoreHorizontal,
  Pencil,
  RotateCcw,
  SquarePen,
  Tag,
  Trash2,
  Undo2,
} from "lucide-react";
import { useState } from "react";
import type { FlowItem } from "@/api/queries/flowList";
import { useRights } from "@/api/rights";
import { IconButton, Menu, type MenuItem } from "@/components/ui";
import { useHomeTexts } from "../texts";
import { useSpaces } from "../useSpaces";
import { MoveDialog } from "./MoveDialog";
import { RenameDialog } from "./RenameDialog";
import { TagDialog } from "./TagDialog";
import { useBulk } from "./useBulk";
import { useFlowActions } from "./useFlowActions";

/** What can be done with a flow in the list. */
export function FlowMenu({ item }: { item: FlowItem }) {
  const t = useHomeTexts();
  const act = useFlowActions();
  const [renaming, setRenaming] = useState(false);
  const { may } = useRights();
  const heard = item.sketch === null || item.sketch.nodes.some(({ type }) => type === "ChatInput");
  const chats = item.published_version !== null && heard && may("runs.start", item.space_id);
  const edits = may("flows.edit", item.space_id);
  const others = useSpaces().filter((space) => space.id !== item.space_id && may("flows.edit", space.id));
  const apply = useBulk();
  const [asked, setAsked] = useState<"move" | "tag" | null>(null);
  const change = (body: Parameters<typeof apply>[1]) => {
    setAsked(null);
    void apply([item.id], body);
  };
  const restoring: MenuItem[] = [
    {
      id: "restore",
      label: t("restore"),
      icon: <RotateCcw />,
      disabled: !edits,
      onSelect: () => change({ action: "restore", tags: [] }),
    },
  ];
  const entries: MenuItem[] = [
    { id: "open", label: t("open"), icon: <SquarePen />, onSelect: () => act.open(item.id) },
    ...(edits
      ? [
          { id: "rename", label: t("rename"), icon: <Pencil />, onSelect: () => setRenaming(true) },
          { id: "develop", label: t("develop_flow"), icon: <Hammer />, onSelect: () => act.develop(item.id) },
          { id: "duplicate", label: t("duplicate"), icon: <Copy />, onSelect: () => void act.duplicate(item) },
          { id: "move", label: t("move"), icon: <FolderInput />, onSelect: () => setAsked("move") },
          { id: "tags", label: t("flow_tags"), icon: <Tag />, onSelect: () => setAsked("tag") },
        ]
      : []),
    ...(chats
      ? [
          { id: "chat", label: t("open_chat"), icon: <MessageCircle />, onSelect: () => act.chat(item.id) },
          { id: "chat-link", label: t("copy_chat"), icon: <Link />, onSelect: () => act.copyChat(item.id) },
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
          ...(item.published_version !== null && may("flows.publish", item.space_id)
            ? [
                {
                  id: "unpublish",
                  label: t("unpublish"),
                  icon: <Undo2 />,
                  onSelect: () => change({ action: "unpublish", tags: [] }),
                },
              ]
            : []),
          { id: "delete", label: t("delete"), icon: <Trash2 />, danger: true, onSelect: () => void act.remove(item) },
        ]
      : []),
  ];
  return (
    <>
      <Menu items={item.deleted_at ? restoring : entries}>
        <IconButton size="sm" label={t("actions", { name: item.name })}>
          <MoreHorizontal />
        </IconButton>
      </Menu>
      {renaming && <RenameDialog item={item} onClose={() => setRenaming(false)} />}
      {asked === "move" && (
        <MoveDialog
          count={1}
          space={item.space_id}
          now={item.folder ?? ""}
          onMove={(folder) => change({ action: "move", folder, tags: [] })}
          onClose={() => setAsked(null)}
        />
      )}
      {asked === "tag" && (
        <TagDialog
          count={1}
          space={item.space_id}
          now={item.tags}
          onTag={(action, tags) => change({ action, tags })}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}
