import { cx } from "./cx";

/** What a server says, as text; only its `commands` stand out, as it marks them. */
export function Words({ children, className }: { children: string; className?: string }) {
  const parts = children.split(/`([^`\n]+)`/);
  return (
    <span className={cx("whitespace-pre-wrap break-words", className)}>
      {parts.map((part, at) =>
        at % 2 === 1 ? (
          <code key={at} className="rounded-sm bg-sunken px-1 font-mono text-xs">
            {part}
          </code>
        ) : (
          part
        ),
      )}
    </span>
  );
}
