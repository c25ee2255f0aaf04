import type { ReactNode } from "react";
import { cx } from "./cx";

export type Tone = "neutral" | "accent" | "ok" | "warn" | "bad" | "info";

const TONES: Record<Tone, string> = {
  neutral: "bg-sunken text-muted border-line",
  accent: "bg-accent-soft text-accent border-accent/25",
  ok: "bg-ok-soft text-ok border-ok/25",
  warn: "bg-warn-soft text-warn border-warn/25",
  bad: "bg-bad-soft text-bad border-bad/25",
  info: "bg-info-soft text-info border-info/25",
};

export function Chip({
  tone = "neutral",
  icon,
  children,
  className,
  title,
}: {
  tone?: Tone;
  icon?: ReactNode;
  children: ReactNode;
  className?: string;
  title?: string;
}) {
  return (
    <span
      title={title}
      className={cx(
        "inline-flex h-5 max-w-full items-center gap-1 whitespace-nowrap rounded-sm border px-1.5 text-xs font-medium [&_svg]:size-3",
        TONES[tone],
        className,
      )}
    >
      {icon}
      <span className="truncate">{children}</span>
    </span>
  );
}

const STATES: Record<string, { tone: Tone; dot: string }> = {
  queued: { tone: "neutral", dot: "bg-faint" },
  pending: { tone: "neutral", dot: "bg-faint" },
  running: { tone: "info", dot: "bg-info animate-pulse" },
  waiting: { tone: "info", dot: "bg-info" },
  paused: { tone: "warn", dot: "bg-warn" },
  completed: { tone: "ok", dot: "bg-ok" },
  failed: { tone: "bad", dot: "bg-bad" },
  cancelled: { tone: "warn", dot: "bg-warn" },
  skipped: { tone: "neutral", dot: "bg-line-strong" },
};

/** A run's or a step's state, as colour, dot and word. */
export function StateChip({ state, label }: { state: string; label: string }) {
  const { tone, dot } = STATES[state] ?? { tone: "neutral" as const, dot: "bg-faint" };
  return (
    <Chip tone={tone} icon={<span aria-hidden className={cx("size-1.5 rounded-full", dot)} />}>
      {label}
    </Chip>
  );
}

/** The class of data, K0 (open) to K4, in its colour. */
export function ClassChip({ level }: { level: number }) {
  const colour =
    ["text-class-0", "text-class-1", "text-class-2", "text-class-3", "text-class-4"][level] ?? "text-class-4";
  return (
    <span
      title={`K${level}`}
      className={cx(
        "inline-flex h-4.5 items-center rounded-sm border border-current px-1 text-2xs font-semibold",
        colour,
      )}
    >
      K{level}
    </span>
  );
}
