import { useQuery } from "@tanstack/react-query";
import { Folder } from "lucide-react";
import { type FormEvent, useState } from "react";
import { collectionsQuery } from "@/api/queries/flowCollections";
import { Button, cx, Dialog, Field, Input } from "@/components/ui";
import { useHomeTexts } from "../texts";
import { parentsOf } from "./folders";

interface MoveDialogProps {
  count: number;
  space: string | undefined;
  now?: string;
  onMove: (folder: string) => void;
  onClose: () => void;
}

/** Chooses a folder, or names a new one. */
export function MoveDialog({ count, space, now = "", onMove, onClose }: MoveDialogProps) {
  const t = useHomeTexts();
  const { data } = useQuery(collectionsQuery(space));
  const [folder, setFolder] = useState(now);
  const known = [...new Set(data?.folders.flatMap(({ name }) => parentsOf(name)) ?? [])].sort();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onMove(folder.trim());
  };
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={t("move_title", { count })} size="sm">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <Field label={t("folder")} help={t("folder_help")}>
          {(control) => (
            <Input {...control} value={folder} maxLength={300} onChange={(event) => setFolder(event.target.value)} />
          )}
        </Field>
        {known.length > 0 && (
          <ul aria-label={t("folders")} className="max-h-56 overflow-y-auto rounded-lg border border-line p-1">
            {known.map((path) => (
              <li key={path}>
                <button
                  type="button"
                  aria-pressed={path === folder}
                  onClick={() => setFolder(path)}
                  className={cx(
                    "flex h-8 w-full items-center gap-2 rounded-md px-2 text-left [&_svg]:size-4 [&_svg]:shrink-0",
                    path === folder ? "bg-accent-soft text-accent" : "hover:bg-hover",
                  )}
                >
                  <Folder aria-hidden />
                  <span className="truncate">{path}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" type="submit">
            {folder.trim() ? t("move") : t("no_folder")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
