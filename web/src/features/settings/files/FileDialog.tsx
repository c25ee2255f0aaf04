import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import {
  type Area,
  workspaceDownload,
  workspaceKeys,
  workspaceTextQuery,
  writeWorkspaceFile,
} from "@/api/queries/workspaceFiles";
import { CodeEditor, type CodeLanguage } from "@/components/code";
import { Button, Dialog, Problem, Skeleton } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";

const LANGUAGES: Record<string, CodeLanguage> = { py: "python", json: "json", md: "markdown" };

/** A text file, to read and to change. */
export function FileDialog({ area, path, onClose }: { area: Area; path: string; onClose: () => void }) {
  const t = useSettingsTexts();
  const file = useQuery(workspaceTextQuery(area, path));
  const [text, setText] = useState<string | null>(null);
  const save = useChange({
    change: (wanted: string) => writeWorkspaceFile(area, path, wanted),
    touches: [workspaceKeys.all],
    failed: t("save_failed"),
    done: t("file_saved"),
  });
  const changed = text !== null && text !== file.data?.text;
  return (
    <Dialog
      open
      size="lg"
      onOpenChange={(open) => !open && onClose()}
      title={path}
      footer={
        <>
          <a
            href={workspaceDownload(area, path)}
            download
            className="inline-flex h-8 items-center gap-2 rounded-md border border-line-strong bg-raised px-3 font-medium shadow-low hover:bg-hover"
          >
            <Download aria-hidden className="size-4" />
            {t("download")}
          </a>
          <Button
            kind="primary"
            disabled={!changed}
            busy={save.isPending}
            onClick={() => text !== null && save.mutate(text, { onSuccess: onClose })}
          >
            {t("save")}
          </Button>
        </>
      }
    >
      {file.isPending && <Skeleton className="h-60" />}
      {file.isError && <Problem error={file.error} />}
      {file.data && (
        <CodeEditor
          label={path}
          language={LANGUAGES[path.split(".").pop() ?? ""] ?? "text"}
          value={text ?? file.data.text}
          onChange={setText}
          minLines={12}
        />
      )}
    </Dialog>
  );
}
