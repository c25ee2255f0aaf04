import { FileJson } from "lucide-react";
import { useState } from "react";
import { type ApiDocument, suggestConnection } from "@/api/queries/apis";
import { Problem } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { DocumentForm } from "./DocumentForm";
import { useConnectionTexts } from "./texts";

/** What the description of an API says about the connection that it needs. */
export interface Described {
  kind: string;
  fields: Record<string, string>;
  document: ApiDocument;
}

/** Begins a new connection with the description of an API. */
export function FromDescription({ onRead }: { onRead: (described: Described) => void }) {
  const t = useConnectionTexts();
  const [open, setOpen] = useState(false);
  const read = useChange({ change: suggestConnection, touches: [] });
  return (
    <section className="mb-4 flex flex-col gap-3">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-start gap-3 rounded-lg border border-line bg-surface p-3 text-left hover:border-line-strong hover:bg-hover"
      >
        <FileJson aria-hidden className="mt-0.5 size-4.5 shrink-0 text-accent" />
        <span className="min-w-0">
          <span className="block font-medium">{t("from_description")}</span>
          <span className="block text-muted text-sm">{t("from_description_about")}</span>
        </span>
      </button>
      {read.isError && <Problem error={read.error} />}
      {open && (
        <DocumentForm
          action={t("api_read")}
          busy={read.isPending}
          onSubmit={(document) =>
            read.mutate(document, {
              onSuccess: ({ kind, fields }) =>
                onRead({
                  kind,
                  document,
                  fields: Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, String(one)])),
                }),
            })
          }
        />
      )}
    </section>
  );
}
