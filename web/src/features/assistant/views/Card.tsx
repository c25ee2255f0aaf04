import type { ReactNode } from "react";
import { cx } from "@/components/ui";

interface CardProps {
  icon: ReactNode;
  title: string;
  /** At the right of the title: a state, a count. */
  aside?: ReactNode;
  children?: ReactNode;
  footer?: ReactNode;
  dashed?: boolean;
}

/** Something in an answer that can be looked at and decided on. */
export function Card({ icon, title, aside, children, footer, dashed }: CardProps) {
  return (
    <section
      aria-label={title}
      className={cx(
        "overflow-hidden rounded-lg border bg-raised",
        dashed ? "border-line-strong border-dashed" : "border-line",
      )}
    >
      <header className="flex min-h-9 items-center gap-2 px-3 py-1.5 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-faint">
        {icon}
        <h4 className="min-w-0 flex-1 truncate text-sm font-medium">{title}</h4>
        {aside}
      </header>
      {children && <div className="border-t border-line px-3 py-2.5">{children}</div>}
      {footer && <footer className="flex flex-wrap items-center gap-2 border-t border-line px-3 py-2">{footer}</footer>}
    </section>
  );
}
