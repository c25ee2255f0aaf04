import type { ReactNode } from "react";

/** What there is to look at and to fill in. */
export const CardBody = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-col gap-4 p-4">{children}</div>
);

/** What can be decided: in view, however long the card is. */
export const CardFoot = ({ children }: { children: ReactNode }) => (
  <footer className="sticky bottom-0 flex flex-wrap items-center gap-2 border-t border-line bg-surface px-4 py-3">
    {children}
  </footer>
);
