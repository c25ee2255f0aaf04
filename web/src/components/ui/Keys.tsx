import { shownKeys } from "@/lib/shortcuts/shortcuts";
import { cx } from "./cx";

/** Keys as caps: `$mod+k` is shown as Ctrl K. */
export function Keys({ keys, inverse }: { keys: string; inverse?: boolean }) {
  return (
    <span className="inline-flex gap-0.5">
      {shownKeys(keys).map((key) => (
        <kbd
          key={key}
          className={cx(
            "inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-sm px-1 font-sans text-2xs",
            inverse ? "bg-canvas/20" : "border border-line bg-sunken text-muted",
          )}
        >
          {key}
        </kbd>
      ))}
    </span>
  );
}
