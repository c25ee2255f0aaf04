import { AtSign } from "lucide-react";
import { type FormEvent, useRef, useState } from "react";
import { Button, Textarea } from "@/components/ui";
import { completed, matching, mentionsIn, typedMention } from "./mentions";
import { useCommentTexts } from "./texts";
import { useMembers } from "./useMembers";

const MOST_OFFERED = 6;

interface CommentFormProps {
  initial?: string;
  action: string;
  busy: boolean;
  onSend: (text: string, mentions: string[]) => void;
  onCancel?: () => void;
}

/** Writes a comment. After `@` the members of the space are offered. */
export function CommentForm({ initial = "", action, busy, onSend, onCancel }: CommentFormProps) {
  const t = useCommentTexts();
  const members = useMembers();
  const [text, setText] = useState(initial);
  const [caret, setCaret] = useState(initial.length);
  const box = useRef<HTMLTextAreaElement>(null);
  const mention = typedMention(text, caret);
  const offered = mention ? matching(members, mention.typed).slice(0, MOST_OFFERED) : [];
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (!text.trim() || busy) return;
    onSend(text.trim(), mentionsIn(text, members));
    if (!onCancel) setText("");
  };
  const choose = (name: string) => {
    const next = completed(text, caret, name);
    setText(next.text);
    setCaret(next.caret);
    box.current?.focus();
  };
  return (
    <form onSubmit={send} className="flex flex-col gap-2">
      <Textarea
        ref={box}
        aria-label={t("comment")}
        placeholder={t("hint")}
        value={text}
        maxLength={4000}
        onChange={(event) => {
          setText(event.target.value);
          setCaret(event.target.selectionStart);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
        }}
      />
      {offered.length > 0 && (
        <ul aria-label={t("mention")} className="flex flex-wrap gap-1.5">
          {offered.map(({ user_id, name }) => (
            <li key={user_id}>
              <Button size="sm" icon={<AtSign />} onClick={() => choose(name)}>
                {name}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <div className="flex justify-end gap-2">
        {onCancel && <Button onClick={onCancel}>{t("cancel")}</Button>}
        <Button type="submit" kind="primary" busy={busy} disabled={!text.trim()}>
          {action}
        </Button>
      </div>
    </form>
  );
}
