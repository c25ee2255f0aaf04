import { X } from "lucide-react";
import type { ReactNode } from "react";
import { cx, IconButton } from "@/components/ui";
import { useListTexts } from "./texts";

interface SelectionBarProps {
  count: number;
  onClear: () => void;
  /** What can be done with the selected items. */
  children: ReactNode;
  className?: string;
}

/** Says how many items of a list are selected, with what can be done with them; nothing without a selection. */
export function SelectionBar({ count, onClear, children, className }: SelectionBarProps) {
  const t = useListTexts();
  if (count === 0) return null;
  return (
    <section
      aria-label={t("selected", { count })}
      className={cx("flex flex-wrap items-center gap-2 border-line bg-raised px-4 py-2.5", className)}
    >
      <span aria-live="polite" className="flex-1 whitespace-nowrap text-sm font-medium">
        {t("selected", { count })}
      </span>
      {children}
      <IconButton label={t("clear")} onClick={onClear}>
        <X />
      </IconButton>
    </section>
  );
}
