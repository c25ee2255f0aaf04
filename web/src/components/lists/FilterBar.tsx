import type { ReactNode } from "react";
import { cx } from "@/components/ui";

interface FilterBarProps {
  label: string;
  children: ReactNode;
}

/** Filters of a list in one row, which scrolls on a narrow screen. */
export function FilterBar({ label, children }: FilterBarProps) {
  return (
    <nav
      aria-label={label}
      className="-mx-1 flex items-center gap-1 overflow-x-auto px-1 py-0.5 [scrollbar-width:none]"
    >
      {children}
    </nav>
  );
}

interface FilterProps {
  on: boolean;
  onSelect: () => void;
  icon?: ReactNode;
  /** How many items it shows. */
  count?: number;
  children: ReactNode;
}

/** One filter of a list. */
export function Filter({ on, onSelect, icon, count, children }: FilterProps) {
  return (
    <button
      type="button"
      aria-pressed={on}
      onClick={onSelect}
      className={cx(
        "inline-flex h-8 shrink-0 items-center gap-1.5 rounded-md px-2.5 text-sm transition-colors [&_svg]:size-4",
        on ? "bg-accent-soft font-medium text-accent" : "text-muted hover:bg-hover hover:text-ink",
      )}
    >
      {icon}
      <span className="max-w-48 truncate">{children}</span>
      {count !== undefined && <span className="text-xs tabular-nums">{count}</span>}
    </button>
  );
}
