import { Link } from "@tanstack/react-router";
import { BookOpen } from "lucide-react";
import type { ReactNode } from "react";
import { Chip } from "@/components/ui";
import { useRunTexts } from "../texts";

/** A passage that a search put into the prompt, as the evidence lists it. */
export interface Cited {
  base_id: string;
  document_id: string;
  document: string;
  version: number;
  document_sha256: string;
  start: number;
  end: number;
  ordinal: number;
  page: number | null;
  sha256: string;
  score: number;
}

/** The name under which searches of knowledge are in the evidence. */
export const KNOWLEDGE_SEARCH = "knowledge.search";

export const isCited = (value: unknown): value is Cited[] =>
  Array.isArray(value) && value.every((one) => typeof one === "object" && one !== null && "document_sha256" in one);

/** The passages of a search: each opens its document at the page, with the passage marked. */
export function KnowledgeCall({ passages }: { passages: readonly Cited[] }) {
  const t = useRunTexts();
  return (
    <ul aria-label={t("cited_passages")} className="flex flex-col gap-1">
      {passages.map((one, index) => (
        <li key={`${one.document_id}-${one.ordinal}`} className="flex flex-wrap items-center gap-2 text-sm">
          <BookOpen aria-hidden className="size-4 text-faint" />
          <PassageLink passage={one}>
            [{index + 1}] {one.document}
            {one.page !== null && `, ${t("cited_page", { page: one.page })}`}
          </PassageLink>
          <Chip>{t("cited_version", { version: one.version })}</Chip>
          <span className="text-xs text-muted tabular-nums">{one.score}</span>
        </li>
      ))}
    </ul>
  );
}

/** Opens the document of a passage at its page, with the passage marked, for who may read the document. */
export function PassageLink({ passage, children }: { passage: Cited; children: ReactNode }) {
  return (
    <Link
      to="/knowledge/{-$baseId}"
      params={{ baseId: passage.base_id }}
      search={{ document: passage.document_id, passage: String(passage.ordinal), cited: passage.sha256 }}
      className="min-w-0 wrap-anywhere hover:text-accent hover:underline"
    >
      {children}
    </Link>
  );
}
