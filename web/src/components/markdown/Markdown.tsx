import { Suspense } from "react";
import { cx } from "@/components/ui";
import { part } from "@/lib/part";

const Rendered = part(() => import("./Rendered"));

/** Somebody else's Markdown: sanitised, no images of other hosts, links that open elsewhere. Plain text until it is loaded. */
export function Markdown({ text, className }: { text: string; className?: string }) {
  return (
    <div className={cx("min-w-0 break-words", className)}>
      <Suspense fallback={<div className="whitespace-pre-wrap">{text}</div>}>
        <Rendered text={text} />
      </Suspense>
    </div>
  );
}
