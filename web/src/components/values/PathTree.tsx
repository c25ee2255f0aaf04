import { CornerDownLeft, Route } from "lucide-react";
import { CopyButton, cx, IconButton, toast, useCopy } from "@/components/ui";
import type { PathRow } from "./paths";
import { asText } from "./shape";
import { useValueTexts } from "./texts";

const INDENTS = ["", "pl-3", "pl-6", "pl-9", "pl-12", "pl-15", "pl-18"];

interface PathTreeProps {
  rows: readonly PathRow[];
  label: string;
  /** Puts a reference where it is wanted; without it values are only read and copied. */
  onInsert?: (path: string) => void;
}

/** Values with their paths: dragged into a field, inserted with a button, copied. */
export function PathTree({ rows, label, onInsert }: PathTreeProps) {
  const t = useValueTexts();
  const copy = useCopy();
  return (
    <ul aria-label={label} className="max-h-72 overflow-y-auto text-sm">
      {rows.map((row, at) => (
        <li
          key={at}
          draggable={row.path !== null}
          onDragStart={(event) => {
            event.dataTransfer.setData("text/plain", `{{${row.path}}}`);
            event.dataTransfer.effectAllowed = "copy";
          }}
          className={cx(
            "group flex min-h-7 items-center gap-2 rounded-sm hover:bg-hover",
            row.path !== null && "cursor-grab",
            INDENTS[row.depth],
          )}
        >
          <span className="shrink-0 font-mono text-muted text-xs">{row.name}</span>
          <span className="min-w-0 flex-1 truncate" title={row.short}>
            {row.short}
          </span>
          <span className="flex shrink-0 items-center">
            {row.path !== null && onInsert && (
              <IconButton
                size="sm"
                label={t("insert_path", { path: row.path })}
                onClick={() => row.path !== null && onInsert(row.path)}
              >
                <CornerDownLeft />
              </IconButton>
            )}
            {row.path !== null && (
              <IconButton
                size="sm"
                label={t("copy_path", { path: row.path })}
                onClick={() => copy(`{{${row.path}}}`, () => toast({ title: t("path_copied") }))}
              >
                <Route />
              </IconButton>
            )}
            {row.value !== undefined && (
              <CopyButton text={asText(row.value)} label={t("copy_value", { name: row.name })} />
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
