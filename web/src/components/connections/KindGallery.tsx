import { useState } from "react";
import type { ConnectionKind } from "@/api/queries/connections";
import { Input } from "@/components/ui";
import { KindIcon } from "./kindIcons";
import { useConnectionTexts } from "./texts";

const CATEGORIES = ["api", "oauth", "mail", "data", "files", "ai", "other"] as const;

const TITLES = {
  api: "category_api",
  oauth: "category_oauth",
  mail: "category_mail",
  data: "category_data",
  files: "category_files",
  ai: "category_ai",
  other: "category_more",
} as const;

/** Whether a kind is meant by a text: by its name, its description or a service that it is used for. */
export function matches(kind: ConnectionKind, text: string): boolean {
  const words = [kind.label, kind.description, kind.id, ...kind.keywords].join(" ").toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => words.includes(word));
}

interface KindGalleryProps {
  kinds: readonly ConnectionKind[];
  onChoose: (kind: ConnectionKind) => void;
}

/** The kinds of connections, by category, with a search. */
export function KindGallery({ kinds, onChoose }: KindGalleryProps) {
  const t = useConnectionTexts();
  const [text, setText] = useState("");
  const shown = kinds.filter((kind) => matches(kind, text));
  return (
    <div className="flex flex-col gap-4">
      <Input
        type="search"
        aria-label={t("find")}
        placeholder={t("find")}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {shown.length === 0 && <p className="py-6 text-center text-muted">{t("none_found", { text })}</p>}
      {CATEGORIES.map((category) => {
        const members = shown.filter((kind) => kind.category === category);
        if (members.length === 0) return null;
        return (
          <section key={category} aria-label={t(TITLES[category])}>
            <h3 className="mb-1.5 text-xs font-medium text-faint">{t(TITLES[category])}</h3>
            <ul className="grid gap-2 sm:grid-cols-2">
              {members.map((kind) => (
                <li key={kind.id}>
                  <button
                    type="button"
                    onClick={() => onChoose(kind)}
                    className="flex h-full w-full items-start gap-3 rounded-lg border border-line bg-surface p-3 text-left hover:border-line-strong hover:bg-hover"
                  >
                    <KindIcon kind={kind} className="mt-0.5 size-4.5 shrink-0 text-accent" />
                    <span className="min-w-0">
                      <span className="block font-medium">{kind.label}</span>
                      <span className="block text-sm text-muted">{kind.description}</span>
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}
