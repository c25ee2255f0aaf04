import { Suspense } from "react";
import { cx } from "@/components/ui";
import { part } from "@/lib/part";
import type { Cite } from "./cites";

const Rendered = part(() => import("./Rendered"));

interface MarkdownProps {
  text: string;
  className?: string;
  /** Draws the number of a source, such as [1]; null leaves it as text. */
  cite?: Cite | undefined;
}

/** Somebody else's Markdown: sanitised, no images of other hosts, links that open elsewhere. Plain text until it is loaded. */
export function Markdown({ text, className, cite }: MarkdownProps) {
  return (
    <div className={cx("min-w-0 break-words", className)}>
      <Suspense fallback={<div className="whitespace-pre-wrap">{text}</div>}>
        <Rendered text={text} cite={cite} />
      </Suspense>
    </div>
  );
}
