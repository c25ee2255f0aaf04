import { useQuery } from "@tanstack/react-query";
import { Download, FileText, FolderOpen, Trash2, Upload } from "lucide-react";
import { useRef, useState } from "react";
import { ApiError } from "@/api/problem";
import {
  type Area,
  deleteWorkspaceFile,
  workspaceDownload,
  workspaceFilesQuery,
  workspaceKeys,
  writeWorkspaceFile,
} from "@/api/queries/workspaceFiles";
import { Button, Confirm, EmptyState, IconButton, Listing, Row, Segments } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago, bytes, number } from "@/lib/i18n/format";
import { Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { FileDialog } from "./FileDialog";

/** The files of the person's workspace, which the assistant and flows work with. */
export function FilesSection() {
  const t = useSettingsTexts();
  const [area, setArea] = useState<Area>("assistant");
  const page = useQuery(workspaceFilesQuery(area));
  const [open, setOpen] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<string | null>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const touches = [workspaceKeys.all];
  const remove = useChange({
    change: (path: string) => deleteWorkspaceFile(area, path),
    touches,
    failed: t("delete_failed"),
  });
  const upload = useChange({
    change: async (files: File[]) => {
      for (const file of files) await writeWorkspaceFile(area, file.name, await textOf(file, t("not_utf8")));
    },
    touches,
    failed: t("upload_failed"),
    done: t("uploaded"),
  });
  const add = (
    <>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label={t("upload_text")}
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = "";
          if (files.length) upload.mutate(files);
        }}
      />
      <Button kind="primary" icon={<Upload />} busy={upload.isPending} onClick={() => chooser.current?.click()}>
        {t("upload_text")}
      </Button>
    </>
  );
  return (
    <Section title={t("files")} about={t("files_about")} action={add}>
      <div className="flex flex-wrap items-center gap-3">
        <Segments
          aria-label={t("whose_files")}
          value={area}
          options={[
            { value: "assistant", label: t("of_assistant") },
            { value: "flows", label: t("of_flows") },
          ]}
          onChange={setArea}
        />
        {page.data && (
          <span className="text-sm text-muted">
            {t("files_used", {
              count: page.data.files,
              most: number(page.data.max_files),
              size: bytes(page.data.size_bytes),
              max: bytes(page.data.max_bytes),
            })}
          </span>
        )}
      </div>
      <Listing
        label={t("files")}
        query={{ ...page, data: page.data?.items }}
        empty={
          <EmptyState icon={<FolderOpen />} title={t("no_files")}>
            {t("no_files_more")}
          </EmptyState>
        }
      >
        {(one) => (
          <Row
            key={one.path}
            icon={<FileText />}
            title={
              <button
                type="button"
                className="text-left hover:text-accent hover:underline"
                onClick={() => setOpen(one.path)}
              >
                {one.path}
              </button>
            }
            detail={`${bytes(one.size_bytes)} · ${ago(one.modified_at)}`}
            aside={
              <>
                <a
                  href={workspaceDownload(area, one.path)}
                  download
                  aria-label={t("download_what", { what: one.path })}
                  title={t("download_what", { what: one.path })}
                  className="inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
                >
                  <Download className="size-4" />
                </a>
                <IconButton
                  size="sm"
                  label={t("delete_what", { what: one.path })}
                  onClick={() => setDeleting(one.path)}
                >
                  <Trash2 />
                </IconButton>
              </>
            }
          />
        )}
      </Listing>
      {open !== null && <FileDialog area={area} path={open} onClose={() => setOpen(null)} />}
      <Confirm
        open={deleting !== null}
        onOpenChange={(next) => !next && setDeleting(null)}
        title={t("delete_what", { what: deleting ?? "" })}
        action={t("delete")}
        busy={remove.isPending}
        onConfirm={() => deleting !== null && remove.mutate(deleting, { onSettled: () => setDeleting(null) })}
      >
        {t("delete_file_more")}
      </Confirm>
    </Section>
  );
}

/** The text of a file. What is none is refused: read as if it were, it would be kept with its letters lost. */
async function textOf(file: File, refusal: string): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new ApiError(422, { code: "not_text", title: refusal, status: 422, detail: `${file.name}: ${refusal}` });
  }
}
