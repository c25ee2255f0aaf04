import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ArrowLeft, Trash2 } from "lucide-react";
import { useState } from "react";
import { deleteBase, type KnowledgeBase, knowledgeKeys } from "@/api/queries/knowledge";
import { useRights } from "@/api/rights";
import { Confirm, IconButton, Tabs } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { Documents } from "./documents/Documents";
import { Embedding } from "./Embedding";
import { EvaluationPane } from "./evaluation/EvaluationPane";
import { PassageSize } from "./preview/PassageSize";
import { Reranker } from "./Reranker";
import { Retention } from "./Retention";
import { SearchPane } from "./search/SearchPane";
import { SourcesPane } from "./sources/SourcesPane";
import { useSourceTexts } from "./sources/texts";
import { useKnowledgeTexts } from "./texts";

/** One knowledge base: its documents, and what a search finds in them. */
export function BasePanel({ base }: { base: KnowledgeBase }) {
  const t = useKnowledgeTexts();
  const sources = useSourceTexts();
  const edits = useRights().may("knowledge.edit", base.space_id);
  const navigate = useNavigate();
  const { may } = useRights();
  const { view } = useSearch({ from: "/inside/knowledge/{-$baseId}" });
  const [deleting, setDeleting] = useState(false);
  const removal = useChange({ change: deleteBase, touches: [knowledgeKeys.bases], failed: t("delete_failed") });
  const tabs = [
    { value: "documents", label: t("documents"), content: <Documents base={base} /> },
    ...(edits ? [{ value: "sources", label: sources("sources"), content: <SourcesPane base={base} /> }] : []),
    { value: "search", label: t("search"), content: <SearchPane base={base} /> },
    ...(edits ? [{ value: "evaluation", label: t("evaluation"), content: <EvaluationPane base={base} /> }] : []),
  ];
  return (
    <div className="mx-auto flex max-w-4xl flex-col gap-4 px-4 py-5">
      <Link
        to="/knowledge/{-$baseId}"
        params={{ baseId: undefined }}
        className="flex items-center gap-1.5 text-sm text-muted hover:text-ink lg:hidden"
      >
        <ArrowLeft aria-hidden className="size-4" />
        {t("back")}
      </Link>
      <header className="flex items-start justify-between gap-3">
        <div className="min-w-0">
          <h2 className="wrap-anywhere text-lg font-semibold">{base.name}</h2>
          {base.description && <p className="text-muted">{base.description}</p>}
        </div>
        {may("knowledge.manage", base.space_id) && (
          <IconButton label={t("delete_what", { what: base.name })} onClick={() => setDeleting(true)}>
            <Trash2 />
          </IconButton>
        )}
      </header>
      <Embedding base={base} />
      <Reranker base={base} />
      <Retention base={base} />
      <PassageSize base={base} />
      <Tabs
        aria-label={base.name}
        value={tabs.some(({ value }) => value === view) ? String(view) : "documents"}
        onChange={(next) =>
          void navigate({
            to: "/knowledge/{-$baseId}",
            params: { baseId: base.id },
            search: { view: next },
            replace: true,
          })
        }
        tabs={tabs}
      />
      <Confirm
        open={deleting}
        onOpenChange={setDeleting}
        title={t("delete_what", { what: base.name })}
        action={t("delete")}
        busy={removal.isPending}
        onConfirm={() =>
          removal.mutate(base.id, {
            onSuccess: () => void navigate({ to: "/knowledge/{-$baseId}", params: { baseId: undefined } }),
          })
        }
      >
        {t("delete_base_more")}
      </Confirm>
    </div>
  );
}
