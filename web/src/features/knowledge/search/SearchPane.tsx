import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListChecks, Search, SearchX } from "lucide-react";
import { useState } from "react";
import { addQuestion, evaluationKeys } from "@/api/queries/evaluations";
import { type Hit, type KnowledgeBase, type SearchOptions, searchQuery } from "@/api/queries/knowledge";
import { useRights } from "@/api/rights";
import { Button, Chip, EmptyState, Field, Input, Problem, Skeleton } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useKnowledgeTexts } from "../texts";
import { SearchControls } from "./SearchControls";
import { SearchFilters } from "./SearchFilters";
import { NONE_WRITTEN } from "./WrittenQueries";

/** What a step would receive for a question: passages in their order, with scores explained. */
export function SearchPane({ base }: { base: KnowledgeBase }) {
  const t = useKnowledgeTexts();
  const { may } = useRights();
  const [text, setText] = useState("");
  const [asked, setAsked] = useState("");
  const [options, setOptions] = useState<SearchOptions>({
    mode: base.searched_model ? "hybrid" : null,
    neighbours: 0,
    diversity: 0,
    rerank: null,
    filters: [],
    written: NONE_WRITTEN,
  });
  const answer = useQuery({ ...searchQuery(base.id, asked, options), enabled: asked !== "" });
  return (
    <div className="flex flex-col gap-4 py-4">
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          setAsked(text.trim());
        }}
      >
        <div className="min-w-0 flex-1">
          <Field label={t("query")}>
            {(control) => (
              <Input
                {...control}
                placeholder={t("query_hint")}
                value={text}
                onChange={(event) => setText(event.target.value)}
              />
            )}
          </Field>
        </div>
        <Button kind="primary" type="submit" icon={<Search />} disabled={!text.trim()} busy={answer.isFetching}>
          {t("search")}
        </Button>
      </form>
      <SearchControls
        reranks={base.rerank_model !== ""}
        edits={may("knowledge.edit", base.space_id)}
        options={options}
        onChange={setOptions}
      />
      <SearchFilters
        baseId={base.id}
        filters={options.filters}
        onChange={(filters) => setOptions({ ...options, filters })}
      />
      {asked === "" && (
        <EmptyState icon={<Search />} title={t("ask_first")}>
          {t("ask_first_more")}
        </EmptyState>
      )}
      {answer.isError && <Problem error={answer.error} />}
      {asked !== "" && answer.isPending && <Skeleton className="h-24" />}
      {answer.data && !answer.data.vectors && (
        <p className="text-sm text-muted">
          {answer.data.words_only &&
            answer.data.words_only !== "chosen" &&
            `${t(`words_only_${answer.data.words_only}`)} `}
          {t("lexical_only")}
        </p>
      )}
      {answer.data?.mode === "vector" && <p className="text-sm text-muted">{t("vector_only")}</p>}
      {answer.data?.mode === "hybrid" && <p className="text-sm text-muted">{t("hybrid_how")}</p>}
      {typeof answer.data?.vector_recall === "number" && (
        <p className="text-sm text-muted">
          {t("approximate", { percent: Math.floor(answer.data.vector_recall * 100) })}
        </p>
      )}
      {answer.data && answer.data.queries.length > 1 && (
        <p className="text-sm text-muted wrap-anywhere">
          {t("queries_asked", { queries: answer.data.queries.map((query, at) => `${at + 1}. ${query}`).join(" · ") })}
        </p>
      )}
      {answer.data?.rerank_model && (
        <p className="text-sm text-muted">{t("reranked_how", { model: answer.data.rerank_model })}</p>
      )}
      {answer.data?.problem && <p className="text-sm text-bad">{answer.data.problem}</p>}
      {answer.data?.hits.length === 0 && (
        <EmptyState icon={<SearchX />} title={t("no_hits")}>
          {t("no_hits_more")}
        </EmptyState>
      )}
      <ol className="flex flex-col gap-3">
        {answer.data?.hits.map((hit) => (
          <OneHit key={`${hit.document_id}-${hit.ordinal}`} base={base} hit={hit} asked={asked} />
        ))}
      </ol>
    </div>
  );
}

function OneHit({ base, hit, asked }: { base: KnowledgeBase; hit: Hit; asked: string }) {
  const t = useKnowledgeTexts();
  const { may } = useRights();
  const add = useChange({
    change: () => addQuestion(base.id, { question: asked, document_ids: [hit.document_id], quote: "", answer: "" }),
    touches: [evaluationKeys.questions(base.id)],
    done: t("question_added"),
    failed: t("question_not_added"),
  });
  return (
    <li className="flex flex-col gap-1.5 rounded-lg border border-line bg-surface px-4 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 wrap-anywhere font-medium">{hit.document}</span>
        {hit.page !== null && <Chip>{t("page", { page: hit.page })}</Chip>}
        <Chip tone="accent" title={t("score_help")}>
          {t("score", { score: hit.score })}
        </Chip>
      </div>
      {hit.context && <p className="text-xs text-faint">{hit.context}</p>}
      <p className="line-clamp-6 whitespace-pre-wrap wrap-anywhere text-sm">{hit.text.trim()}</p>
      <p className="text-xs text-muted">
        {[
          (hit.queries.length > 1 || hit.queries[0] !== 0) &&
            t("found_by", { numbers: hit.queries.map((query) => query + 1).join(", ") }),
          hit.matched.length > 0 && t("matched", { words: hit.matched.join(", ") }),
          hit.lexical_rank !== null && t("rank", { rank: hit.lexical_rank }),
          hit.vector_rank !== null &&
            t("rank_vector", { rank: hit.vector_rank, similarity: hit.similarity ?? "–", model: hit.embedding_model }),
          hit.first_rank !== null && t("first_rank", { rank: hit.first_rank }),
          hit.rerank_score !== null && t("rerank_score", { score: hit.rerank_score }),
          hit.first_rank !== null && hit.rerank_score === null && t("not_sent"),
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Link
          to="/knowledge/{-$baseId}"
          params={{ baseId: base.id }}
          search={{ document: hit.document_id, passage: String(hit.ordinal), cited: hit.sha256 }}
          className="text-sm text-accent hover:underline"
        >
          {t("open_passage")}
        </Link>
        {may("knowledge.edit", base.space_id) && (
          <Button size="sm" icon={<ListChecks />} busy={add.isPending} onClick={() => add.mutate()}>
            {t("answers_question")}
          </Button>
        )}
      </div>
    </li>
  );
}
