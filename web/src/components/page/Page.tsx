import type { ReactNode } from "react";

interface PageProps {
  title: string;
  about?: ReactNode;
  /** What can be done or chosen here, next to the heading. */
  actions?: ReactNode;
  /** The way back, above the heading. */
  back?: ReactNode;
  /** A page of the open flow, whose name is the first heading. */
  ofFlow?: boolean;
  children: ReactNode;
}

/** A place of the studio: every one has the same width and the same heading. */
export function Page({ title, about, actions, back, ofFlow = false, children }: PageProps) {
  const Heading = ofFlow ? "h2" : "h1";
  return (
    <div className="mx-auto flex w-full max-w-7xl flex-col gap-5 px-4 pt-6 pb-12 sm:px-8">
      <header className="flex flex-wrap items-start gap-x-6 gap-y-3">
        <div className="min-w-0 flex-1 basis-64">
          {back}
          <Heading className={ofFlow ? "text-lg font-semibold" : "text-2xl font-semibold"}>{title}</Heading>
          {about && <p className="mt-0.5 max-w-2xl text-muted">{about}</p>}
        </div>
        {actions && <div className="flex max-w-full flex-wrap items-center gap-3">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
