import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { MoreHorizontal, Pencil, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { type Conversation, chatKeys, deleteConversation, renameConversation } from "@/api/queries/chat";
import { Button, cx, Dialog, Field, IconButton, Input, Menu, toastError } from "@/components/ui";
import { useChatTexts } from "./texts";

interface RowProps {
  conversation: Conversation;
  open: boolean;
  onOpen: () => void;
}

/** A conversation in the list: opens it; its menu renames and deletes it. */
export function ConversationRow({ conversation, open, onOpen }: RowProps) {
  const t = useChatTexts();
  const [asked, setAsked] = useState<"rename" | "delete" | null>(null);
  const name = conversation.title || t("untitled");
  const params = { flowId: conversation.flow_id, conversationId: conversation.id };
  return (
    <li
      className={cx("flex items-center rounded-md pr-1 hover:bg-hover", open && "bg-accent-soft hover:bg-accent-soft")}
    >
      <Link
        to="/chat/$flowId/{-$conversationId}"
        params={params}
        aria-current={open ? "page" : undefined}
        onClick={onOpen}
        className="min-w-0 flex-1 truncate rounded-md px-3 py-2"
      >
        {name}
      </Link>
      <Menu
        items={[
          { id: "rename", label: t("rename"), icon: <Pencil />, onSelect: () => setAsked("rename") },
          { id: "delete", label: t("delete"), icon: <Trash2 />, danger: true, onSelect: () => setAsked("delete") },
        ]}
      >
        <IconButton size="sm" label={t("actions", { name })}>
          <MoreHorizontal />
        </IconButton>
      </Menu>
      {asked === "rename" && <Renaming conversation={conversation} onClose={() => setAsked(null)} />}
      {asked === "delete" && <Deleting conversation={conversation} open={open} onClose={() => setAsked(null)} />}
    </li>
  );
}

function Renaming({ conversation, onClose }: { conversation: Conversation; onClose: () => void }) {
  const t = useChatTexts();
  const queries = useQueryClient();
  const [title, setTitle] = useState(conversation.title);
  const [busy, setBusy] = useState(false);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await renameConversation(conversation.id, title.trim());
      await queries.invalidateQueries({ queryKey: chatKeys.conversations(conversation.flow_id) });
      onClose();
    } catch (error) {
      toastError(t("rename_failed"), error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={t("rename")} size="sm">
      <form onSubmit={(event) => void save(event)} className="flex flex-col gap-4">
        <Field label={t("title")} required>
          {(control) => (
            <Input {...control} value={title} maxLength={200} onChange={(event) => setTitle(event.target.value)} />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" type="submit" busy={busy} disabled={!title.trim()}>
            {t("save")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Deleting({ conversation, open, onClose }: { conversation: Conversation; open: boolean; onClose: () => void }) {
  const t = useChatTexts();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const remove = async () => {
    setBusy(true);
    try {
      await deleteConversation(conversation.id);
      onClose();
      const { flow_id: flowId } = conversation;
      if (open)
        await navigate({ to: "/chat/$flowId/{-$conversationId}", params: { flowId, conversationId: undefined } });
      await queries.invalidateQueries({ queryKey: chatKeys.conversations(flowId) });
    } catch (error) {
      toastError(t("delete_failed"), error);
      setBusy(false);
    }
  };
  return (
    <Dialog open onOpenChange={(shown) => !shown && onClose()} title={t("delete_title")} size="sm">
      <p className="text-muted">{t("delete_more")}</p>
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button kind="danger" busy={busy} onClick={() => void remove()}>
          {t("delete")}
        </Button>
      </div>
    </Dialog>
  );
}
