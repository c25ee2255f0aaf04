import type { ReactNode } from "react";
import { cx } from "@/components/ui";

interface SectionProps {
  title: string;
  about?: ReactNode;
  action?: ReactNode;
  children: ReactNode;
}

/** One section of the settings: what it is about, what can be done, and its things. */
export function Section({ title, about, action, children }: SectionProps) {
  return (
    <section aria-label={title} className="flex flex-col gap-5">
      <header className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1 basis-60">
          <h2 className="text-xl font-semibold">{title}</h2>
          {about && <p className="mt-1 max-w-2xl text-muted">{about}</p>}
        </div>
        {action}
      </header>
      {children}
    </section>
  );
}

/** A part of a section with a heading of its own. */
export function Part({ title, about, action, children }: SectionProps) {
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-end gap-3">
        <div className="min-w-0 flex-1 basis-60">
          <h3 className="font-semibold">{title}</h3>
          {about && <p className="text-sm text-muted">{about}</p>}
        </div>
        {action}
      </div>
      {children}
    </div>
  );
}

/** Things one under another, a hairline between them. */
export function Rows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} className="divide-y divide-line rounded-lg border border-line bg-surface">
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
        <div className={cx("min-w-0 flex-1 basis-40", muted && "text-muted")}>
          <div className="flex min-w-0 flex-wrap items-center gap-2 break-all font-medium">{title}</div>
          {detail && <div className="break-words text-sm text-muted">{detail}</div>}
        </div>
        {aside && <div className="flex flex-wrap items-center gap-2">{aside}</div>}
      </div>
      {children}
    </li>
  );
}
