import { Check, MoreHorizontal, Pencil, RotateCcw, Trash2 } from "lucide-react";
import { useState } from "react";
import type { FlowComment } from "@/api/queries/comments";
import { useRights } from "@/api/rights";
import { Chip, cx, IconButton, Menu } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { ago, dateTime } from "@/lib/i18n/format";
import { CommentForm } from "./CommentForm";
import { useCommentTexts } from "./texts";
import type { useCommentActions } from "./useCommentActions";

interface CommentEntryProps {
  comment: FlowComment;
  /** The name of its node, where comments of several are listed. */
  place?: string;
  onPlace?: () => void;
  act: ReturnType<typeof useCommentActions>;
}

/** A comment with what its reader may do with it. */
export function CommentEntry({ comment, place, onPlace, act }: CommentEntryProps) {
  const t = useCommentTexts();
  const [editing, setEditing] = useState(false);
  const { me, may } = useRights();
  const spaceId = useDraft((state) => state.spaceId);
  const own = comment.author?.user_id === me?.user.id;
  const resolved = comment.resolved_at !== null;
  const items = [
    {
      id: "resolve",
      label: t(resolved ? "reopen" : "resolve"),
      icon: resolved ? <RotateCcw /> : <Check />,
      onSelect: () => act.change(comment.id, { resolved: !resolved }),
    },
    ...(own ? [{ id: "edit", label: t("edit"), icon: <Pencil />, onSelect: () => setEditing(true) }] : []),
    ...(own || may("spaces.manage", spaceId)
      ? [{ id: "delete", label: t("delete"), icon: <Trash2 />, danger: true, onSelect: () => act.remove(comment.id) }]
      : []),
  ];
  return (
    <li className={cx("rounded-lg border border-line bg-surface p-3", resolved && "bg-sunken")}>
      <div className="flex items-center gap-2">
        <span className="min-w-0 truncate font-medium">{comment.author?.name || t("deleted_user")}</span>
        <span className="shrink-0 text-muted text-xs" title={dateTime(comment.created_at)}>
          {ago(comment.created_at)}
          {comment.edited_at && ` · ${t("edited")}`}
        </span>
        <span className="flex-1" />
        {resolved && <Chip tone="ok">{t("resolved")}</Chip>}
        {may("flows.comment", spaceId) && (
          <Menu items={items}>
            <IconButton size="sm" label={t("actions")}>
              <MoreHorizontal />
            </IconButton>
          </Menu>
        )}
      </div>
      {place && (
        <button type="button" onClick={onPlace} className="mt-0.5 text-accent text-xs hover:underline">
          {place}
        </button>
      )}
      {editing ? (
        <CommentForm
          initial={comment.text}
          action={t("save")}
          busy={act.busy}
          onCancel={() => setEditing(false)}
          onSend={(text, mentions) => {
            act.change(comment.id, { text, mentions });
            setEditing(false);
          }}
        />
      ) : (
        <p className={cx("mt-1 whitespace-pre-wrap wrap-anywhere", resolved && "text-muted")}>
          <Marked text={comment.text} names={comment.mentions.map((one) => one.name)} />
        </p>
      )}
    </li>
  );
}

/** The text with its mentions marked. */
function Marked({ text, names }: { text: string; names: readonly string[] }) {
  const name = names.find((one) => text.includes(`@${one}`));
  if (!name) return text;
  const at = text.indexOf(`@${name}`);
  const end = at + name.length + 1;
  return (
    <>
      <Marked text={text.slice(0, at)} names={names} />
      <span className="font-medium text-accent">{text.slice(at, end)}</span>
      <Marked text={text.slice(end)} names={names} />
    </>
  );
}
