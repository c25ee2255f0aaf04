import type { ReactNode } from "react";

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
