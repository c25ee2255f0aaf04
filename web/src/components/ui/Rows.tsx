import type { ReactNode } from "react";
import { cx } from "./cx";

/** Things one under another, a hairline between them. */
export function Rows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} className="min-w-0 divide-y divide-line rounded-lg border border-line bg-surface">
      {children}
    </ul>
  );
}

interface RowProps {
  title: ReactNode;
  detail?: ReactNode;
  icon?: ReactNode;
  aside?: ReactNode;
  children?: ReactNode;
  muted?: boolean;
}

/** One thing: what it is, what there is to say of it, what can be done with it. */
export function Row({ title, detail, icon, aside, children, muted }: RowProps) {
  return (
    <li className="px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        {icon && <span className="text-faint [&_svg]:size-4.5">{icon}</span>}
        <div className={cx("min-w-0 flex-1 basis-52", muted && "text-muted")}>
          <div className="flex min-w-0 flex-wrap items-center gap-2 wrap-anywhere font-medium">{title}</div>
          {detail && <div className="wrap-anywhere text-sm text-muted">{detail}</div>}
        </div>
        {aside && <div className="flex flex-wrap items-center gap-2">{aside}</div>}
      </div>
      {children}
    </li>
  );
}
