import type { KnowledgeDocument } from "@/api/queries/knowledge";
import { Chip, type Tone } from "@/components/ui";
import { useKnowledgeTexts } from "../texts";

const TONES: Record<KnowledgeDocument["status"], Tone> = {
  pending: "neutral",
  indexing: "info",
  ready: "ok",
  failed: "bad",
};

/** The state of a document's index. */
export function DocumentState({ document }: { document: KnowledgeDocument }) {
  const t = useKnowledgeTexts();
  return <Chip tone={TONES[document.status]}>{t(`status_${document.status}`)}</Chip>;
}
