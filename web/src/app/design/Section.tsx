import type { ReactNode } from "react";

export function Section({ title, lead, children }: { title: string; lead?: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="grid gap-x-8 gap-y-3 border-t border-line py-8 lg:grid-cols-[13rem_1fr]">
      <div>
        <h2 className="text-lg font-semibold">{title}</h2>
        {lead && <p className="mt-1 text-sm text-muted">{lead}</p>}
      </div>
      <div className="flex min-w-0 flex-col gap-4">{children}</div>
    </section>
  );
}
