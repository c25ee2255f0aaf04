import { cx } from "@/components/ui";
import { visible } from "@/lib/visible";
import { useConnectionTexts } from "./texts";

interface DifferenceProps {
  label: string;
  /** Lines of a description from outside, each with `+`, `-` or a space before it. */
  lines: readonly string[];
}

const LOOKS: Record<string, string> = { "+": "bg-ok-soft text-ok", "-": "bg-bad-soft text-bad" };

/** What changed in a description from outside since it was accepted. Its words are text, with hidden characters visible. */
export function Difference({ label, lines }: DifferenceProps) {
  const t = useConnectionTexts();
  if (lines.length === 0) return <p className="text-muted text-sm">{t("difference_unknown")}</p>;
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      className="max-h-72 overflow-auto rounded-md border border-line bg-surface py-1 font-mono text-xs"
    >
      {lines.map((line, at) => (
        <p key={at} className={cx("whitespace-pre-wrap break-words px-2", LOOKS[line[0] ?? ""])}>
          {visible(line)}
        </p>
      ))}
    </section>
  );
}
