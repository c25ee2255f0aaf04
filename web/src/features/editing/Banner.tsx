import type { ReactNode } from "react";
import { cx } from "@/components/ui";

interface BannerProps {
  tone: "warn" | "bad" | "info";
  title: string;
  children: ReactNode;
  actions: ReactNode;
}

const TONES = { warn: "bg-warn-soft text-warn", bad: "bg-bad-soft text-bad", info: "bg-info-soft text-info" };

/** A line over the whole flow that stays until somebody has answered it. */
export function Banner({ tone, title, children, actions }: BannerProps) {
  return (
    <section
      aria-label={title}
      className={cx("flex shrink-0 flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-3 py-2", TONES[tone])}
    >
      <p className="min-w-0 flex-1 basis-64 text-sm">
        <strong className="font-semibold">{title}.</strong> <span className="text-ink">{children}</span>
      </p>
      <div className="flex gap-2">{actions}</div>
    </section>
  );
}
