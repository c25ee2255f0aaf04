import { useState } from "react";
import { FileLink } from "@/components/files/FileLink";
import { Markdown } from "@/components/markdown/Markdown";
import { Button, cx } from "@/components/ui";
import { bytes, number } from "@/lib/i18n/format";
import { type LongValue, looksLikeMarkdown, shapeOf } from "./shape";
import { TableView } from "./TableView";
import { TreeView } from "./TreeView";
import { useValueTexts } from "./texts";

const FIRST = 6000;

/** Whatever a step took or gave, shown as what it is: text or Markdown, a table, a tree, images and files. */
export function ValueView({ value, className }: { value: unknown; className?: string }) {
  return (
    <div className={cx("min-w-0", className)}>
      <Shown value={value} />
    </div>
  );
}

function Shown({ value }: { value: unknown }) {
  const t = useValueTexts();
  const shape = shapeOf(value);
  switch (shape.kind) {
    case "nothing":
      return <p className="text-sm text-faint">{t("nothing")}</p>;
    case "text":
      return <TextView text={shape.text} />;
    case "plain":
      return <p className="font-mono text-sm">{shape.text}</p>;
    case "message":
      return (
        <div className="flex flex-col gap-2">
          {(shape.text || shape.files.length === 0) && <TextView text={shape.text} />}
          {shape.files.map((file) => (
            <FileLink key={file.id} id={file.id} known={file} />
          ))}
        </div>
      );
    case "file":
      return <FileLink id={shape.file.id} known={shape.file} />;
    case "table":
      return <TableView table={shape.table} />;
    case "long":
      return <LongView value={shape.value} />;
    case "tree":
      return <TreeView value={shape.value} />;
  }
}

function TextView({ text }: { text: string }) {
  const t = useValueTexts();
  const [all, setAll] = useState(false);
  if (!text) return <p className="text-sm text-faint">{t("empty_text")}</p>;
  const shown = all ? text : text.slice(0, FIRST);
  return (
    <div className="flex flex-col gap-2">
      {looksLikeMarkdown(shown) ? (
        <Markdown text={shown} />
      ) : (
        <div className="whitespace-pre-wrap break-words">{shown}</div>
      )}
      {shown.length < text.length && (
        <Button size="sm" className="self-start" onClick={() => setAll(true)}>
          {t("open_all", { count: number(text.length) })}
        </Button>
      )}
    </div>
  );
}

function LongView({ value }: { value: LongValue }) {
  const t = useValueTexts();
  return (
    <div className="flex flex-col gap-2">
      <div className="max-h-80 overflow-auto whitespace-pre-wrap break-words">{value.preview}</div>
      <p className="text-xs text-muted">{t("truncated", { size: bytes(value.size_bytes) })}</p>
      <FileLink id={value.file_id} />
    </div>
  );
}
