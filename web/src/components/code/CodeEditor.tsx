import { Suspense } from "react";
import { cx } from "@/components/ui";
import { part } from "@/lib/part";
import { useCodeTexts } from "./texts";
import type { CodeEditorProps } from "./types";

const Editing = part(() => import("./Editing"));
const LINE = 20;
const AROUND = 12;

/** Code, JSON, Markdown or long text, highlighted. The editor itself comes when the first one is shown. */
export function CodeEditor({ minLines = 4, maxLines = 24, ...rest }: CodeEditorProps) {
  const t = useCodeTexts();
  const { diagnostics = [], readOnly } = rest;
  return (
    <div className="flex flex-col gap-1">
      <div
        className={cx(
          "overflow-hidden rounded-md border bg-surface transition-colors focus-within:border-focus",
          rest["aria-invalid"] ? "border-bad" : "border-line-strong",
          readOnly && "bg-sunken",
        )}
        style={{ minHeight: minLines * LINE + AROUND, maxHeight: maxLines * LINE + AROUND }}
      >
        <Suspense
          fallback={
            <pre className="min-h-[inherit] overflow-hidden px-2.5 py-1.5 font-mono text-sm text-muted">
              {rest.value}
            </pre>
          }
        >
          <Editing {...rest} />
        </Suspense>
      </div>
      {!readOnly && <p className="sr-only">{t("leave")}</p>}
      {diagnostics.length > 0 && (
        <ul aria-label={t("problems", { count: diagnostics.length })} className="sr-only">
          {diagnostics.map((one) => (
            <li key={`${one.line} ${one.message}`}>{t("line", { line: one.line, message: one.message })}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
