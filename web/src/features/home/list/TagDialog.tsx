import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { collectionsQuery } from "@/api/queries/flowCollections";
import { Button, cx, Dialog, Field, Input } from "@/components/ui";
import { useHomeTexts } from "../texts";

interface TagDialogProps {
  count: number;
  space: string | undefined;
  now?: readonly string[];
  onTag: (action: "tag" | "untag", tags: string[]) => void;
  onClose: () => void;
}

/** Names tags to add or to remove, separated by commas; those in use are offered. */
export function TagDialog({ count, space, now = [], onTag, onClose }: TagDialogProps) {
  const t = useHomeTexts();
  const { data } = useQuery(collectionsQuery(space));
  const [typed, setTyped] = useState(now.join(", "));
  const tags = [...new Set(typed.split(",").map((one) => one.trim().toLowerCase()))].filter(Boolean);
  const switched = (tag: string) =>
    setTyped((tags.includes(tag) ? tags.filter((one) => one !== tag) : [...tags, tag]).join(", "));
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={t("tag_title", { count })} size="sm">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (tags.length > 0) onTag("tag", tags);
        }}
        className="flex flex-col gap-4"
      >
        <Field label={t("flow_tags")} help={t("tags_help")}>
          {(control) => (
            <Input {...control} value={typed} maxLength={400} onChange={(event) => setTyped(event.target.value)} />
          )}
        </Field>
        {data && data.tags.length > 0 && (
          <ul aria-label={t("tags_in_use")} className="flex flex-wrap gap-1.5">
            {data.tags.map(({ name }) => (
              <li key={name}>
                <button
                  type="button"
                  aria-pressed={tags.includes(name)}
                  onClick={() => switched(name)}
                  className={cx(
                    "h-7 rounded-full border px-3 text-xs",
                    tags.includes(name) ? "border-accent bg-accent-soft text-accent" : "border-line hover:bg-hover",
                  )}
                >
                  {name}
                </button>
              </li>
            ))}
          </ul>
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="danger" disabled={tags.length === 0} onClick={() => onTag("untag", tags)}>
            {t("untag")}
          </Button>
          <Button kind="primary" type="submit" disabled={tags.length === 0}>
            {t("tag")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
