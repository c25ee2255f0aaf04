import { Download, FileText } from "lucide-react";
import { useState } from "react";
import { Markdown } from "@/components/markdown/Markdown";
import { Button, Dialog } from "@/components/ui";
import { bytes } from "@/lib/i18n/format";
import { download } from "../model/download";
import type { WrittenFile } from "../model/message";
import { useAssistantTexts } from "../texts";
import { Card } from "./Card";

/** Files that were written. Their text came with the event: nothing is fetched to show or keep them. */
export function FileCards({ files }: { files: WrittenFile[] }) {
  const [shown, setShown] = useState<WrittenFile | null>(null);
  return (
    <>
      {files.map((file) => (
        <FileCard key={file.path} file={file} onOpen={() => setShown(file)} />
      ))}
      <Dialog
        open={shown !== null}
        onOpenChange={(open) => !open && setShown(null)}
        title={shown?.path ?? ""}
        size="lg"
      >
        {shown && <Content file={shown} />}
      </Dialog>
    </>
  );
}

function FileCard({ file, onOpen }: { file: WrittenFile; onOpen: () => void }) {
  const t = useAssistantTexts();
  const { content } = file;
  return (
    <Card
      icon={<FileText />}
      title={file.path}
      aside={<span className="text-xs text-muted tabular-nums">{bytes(file.size)}</span>}
      footer={
        content === null ? (
          <span className="text-xs text-muted">{t("file_changed")}</span>
        ) : (
          <>
            <Button size="sm" onClick={onOpen}>
              {t("open")}
            </Button>
            <Button size="sm" kind="ghost" icon={<Download />} onClick={() => download(file.path, content)}>
              {t("download")}
            </Button>
          </>
        )
      }
    />
  );
}

const IS_MARKDOWN = /\.(?:md|markdown)$/i;

function Content({ file }: { file: WrittenFile }) {
  const content = file.content ?? "";
  if (IS_MARKDOWN.test(file.path)) return <Markdown text={content} />;
  return <pre className="overflow-x-auto whitespace-pre-wrap break-words font-mono text-sm">{content}</pre>;
}
