import { useInfiniteQuery } from "@tanstack/react-query";
import { ChevronRight, File, Folder } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { storedFilesQuery } from "@/api/queries/storedFiles";
import { Button, Dialog, Input, Problem, Skeleton } from "@/components/ui";
import { bytes, dateTime } from "@/lib/i18n/format";
import { useStorageTexts } from "./texts";

export type Wanted = "folder" | "file";

export interface StorageDialogProps {
  connection: { id: string; name: string };
  /** What is chosen; without it files are only shown. */
  wanted?: Wanted | undefined;
  /** Where it begins. */
  folder?: string;
  onChoose?: (path: string) => void;
  onClose: () => void;
}

/** Folders and files of a storage. Folders are opened; a folder or a file is chosen. */
export function StorageDialog({ connection, wanted, folder: first = "", onChoose, onClose }: StorageDialogProps) {
  const t = useStorageTexts();
  const [folder, setFolder] = useState(first);
  const [typed, setTyped] = useState("");
  const open = (path: string) => {
    setFolder(path);
    setTyped("");
  };
  const choose = (path: string) => {
    onChoose?.(path);
    onClose();
  };
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => !isOpen && onClose()}
      title={t("files_of", { name: connection.name })}
      description={t(wanted === "file" ? "about_file" : wanted ? "about_folder" : "about_view")}
      footer={
        <>
          <Button onClick={onClose}>{t(wanted ? "cancel" : "close")}</Button>
          {wanted === "folder" && (
            <Button kind="primary" onClick={() => choose(folder)}>
              {t("choose_folder")}
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Way folder={folder} onOpen={open} />
        <Input
          type="search"
          aria-label={t("find")}
          placeholder={t("find")}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Entries
          connection={connection.id}
          folder={folder}
          search={typed}
          onOpen={open}
          onFile={wanted === "file" ? choose : undefined}
        />
      </div>
    </Dialog>
  );
}

/** The folders that lead to the open one. */
function Way({ folder, onOpen }: { folder: string; onOpen: (path: string) => void }) {
  const t = useStorageTexts();
  const parts = folder.split("/").filter(Boolean);
  return (
    <nav aria-label={t("path")} className="flex flex-wrap items-center gap-1 text-sm wrap-anywhere">
      {["", ...parts].map((part, depth) => {
        const path = parts.slice(0, depth).join("/");
        const current = depth === parts.length;
        return (
          <span key={path} className="inline-flex items-center gap-1">
            {depth > 0 && <ChevronRight aria-hidden className="size-3.5 text-faint" />}
            <button
              type="button"
              aria-current={current ? "location" : undefined}
              className="rounded px-1 font-medium text-accent hover:underline aria-[current]:text-ink"
              onClick={() => onOpen(path)}
            >
              {part || t("top")}
            </button>
          </span>
        );
      })}
    </nav>
  );
}

interface EntriesProps {
  connection: string;
  folder: string;
  search: string;
  onOpen: (path: string) => void;
  onFile: ((path: string) => void) | undefined;
}

function Entries({ connection, folder, search, onOpen, onFile }: EntriesProps) {
  const t = useStorageTexts();
  const text = useDeferredValue(search.trim());
  const files = useInfiniteQuery(storedFilesQuery(connection, folder, text));
  if (files.isPending) return <Skeleton className="h-40" />;
  if (files.isError) return <Problem error={files.error} retry={() => void files.refetch()} />;
  const entries = files.data.pages.flatMap((page) => page.items);
  if (entries.length === 0)
    return <p className="py-4 text-sm text-muted">{text ? t("none_found", { text }) : t("empty")}</p>;
  return (
    <>
      <ul
        aria-label={t("entries")}
        className="max-h-96 divide-y divide-line overflow-y-auto rounded-md border border-line"
      >
        {entries.map((entry) => {
          const act = entry.is_folder ? onOpen : onFile;
          const line = (
            <>
              {entry.is_folder ? (
                <Folder aria-hidden className="size-4 shrink-0 text-accent" />
              ) : (
                <File aria-hidden className="size-4 shrink-0 text-faint" />
              )}
              <span className="min-w-0 flex-1 wrap-anywhere">{entry.name}</span>
              <span className="shrink-0 text-muted text-xs tabular-nums">
                {entry.changed && <span className="hidden sm:inline">{dateTime(entry.changed)}</span>}
                {!entry.is_folder && <span className="inline-block w-20 text-right">{bytes(entry.size)}</span>}
              </span>
            </>
          );
          const shape = "flex w-full items-center gap-2 px-3 py-2 text-left text-sm";
          return (
            <li key={entry.path}>
              {act ? (
                <button
                  type="button"
                  {...(entry.is_folder ? { "aria-label": t("open_folder", { name: entry.name }) } : {})}
                  className={`${shape} hover:bg-hover focus-visible:bg-hover`}
                  onClick={() => act(entry.path)}
                >
                  {line}
                </button>
              ) : (
                <div className={shape}>{line}</div>
              )}
            </li>
          );
        })}
      </ul>
      {files.hasNextPage && (
        <Button busy={files.isFetchingNextPage} onClick={() => void files.fetchNextPage()}>
          {t("more")}
        </Button>
      )}
    </>
  );
}
