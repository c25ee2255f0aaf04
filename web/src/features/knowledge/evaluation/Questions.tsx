import { type UseQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import { ListChecks, Plus, Trash2, X } from "lucide-react";
import { useState } from "react";
import { addQuestion, deleteQuestion, evaluationKeys, type KnowledgeQuestion } from "@/api/queries/evaluations";
import { type Condition, documentsQuery, type KnowledgeBase } from "@/api/queries/knowledge";
import { Button, Chip, EmptyState, Field, IconButton, Input, Listing, Row, Select, Textarea } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useMetadataTexts } from "../metadata/texts";
import { SearchFilters, shown } from "../search/SearchFilters";
import { useKnowledgeTexts } from "../texts";
import { QuestionSources } from "./QuestionSources";

interface QuestionsProps {
  base: KnowledgeBase;
  questions: UseQueryResult<KnowledgeQuestion[]>;
}

/** The questions of a base with the documents that answer them, and the form for another one. */
export function Questions({ base, questions }: QuestionsProps) {
  const t = useKnowledgeTexts();
  const tm = useMetadataTexts();
  const remove = useChange({
    change: (id: string) => deleteQuestion(base.id, id),
    touches: [evaluationKeys.questions(base.id)],
    failed: t("delete_failed"),
  });
  return (
    <section aria-labelledby="questions" className="flex flex-col gap-3">
      <h3 id="questions" className="font-medium">
        {t("questions")}
      </h3>
      <NewQuestion base={base} />
      <QuestionSources base={base} />
      <Listing
        label={t("questions")}
        query={questions}
        empty={
          <EmptyState icon={<ListChecks />} title={t("no_questions")}>
            {t("no_questions_more")}
          </EmptyState>
        }
      >
        {(row) => (
          <Row
            key={row.id}
            title={row.question}
            detail={[
              row.documents.map((document) => document.name || t("no_document")).join(", "),
              row.answer,
              row.filters.map((filter) => shown(filter, tm)).join(", "),
            ]
              .filter(Boolean)
              .join(" · ")}
            aside={
              <IconButton label={t("delete_what", { what: row.question })} onClick={() => remove.mutate(row.id)}>
                <Trash2 />
              </IconButton>
            }
          />
        )}
      </Listing>
    </section>
  );
}

function NewQuestion({ base }: { base: KnowledgeBase }) {
  const t = useKnowledgeTexts();
  const [question, setQuestion] = useState("");
  const [answer, setAnswer] = useState("");
  const [expected, setExpected] = useState<string[]>([]);
  const [filters, setFilters] = useState<Condition[]>([]);
  const pages = useInfiniteQuery(documentsQuery(base.id));
  const documents = pages.data?.pages.flatMap((page) => page.items) ?? [];
  const add = useChange({
    change: () =>
      addQuestion(base.id, {
        question: question.trim(),
        document_ids: expected,
        quote: "",
        answer: answer.trim(),
        filters,
      }),
    touches: [evaluationKeys.questions(base.id)],
    failed: t("question_not_added"),
  });
  const ready = question.trim() !== "" && expected.length > 0;
  const submit = () =>
    add.mutate(undefined, {
      onSuccess: () => {
        setQuestion("");
        setAnswer("");
        setExpected([]);
        setFilters([]);
      },
    });
  return (
    <form
      className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) submit();
      }}
    >
      <Field label={t("new_question")}>
        {(control) => (
          <Input {...control} value={question} maxLength={2000} onChange={(event) => setQuestion(event.target.value)} />
        )}
      </Field>
      <Field label={t("reference_answer")} help={t("reference_answer_help")}>
        {(control) => (
          <Textarea
            {...control}
            rows={1}
            value={answer}
            maxLength={10_000}
            onChange={(event) => setAnswer(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("answered_by")} help={t("answered_by_help")}>
        {(control) => (
          <Select
            {...control}
            value=""
            placeholder={t("choose_document")}
            options={documents
              .filter(({ id }) => !expected.includes(id))
              .map(({ id, name }) => ({ value: id, label: name }))}
            onChange={(id) => setExpected([...expected, id])}
          />
        )}
      </Field>
      {pages.hasNextPage && (
        <Button
          size="sm"
          className="self-start"
          busy={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          {t("more_documents")}
        </Button>
      )}
      {expected.length > 0 && (
        <ul aria-label={t("answered_by")} className="flex flex-wrap gap-2">
          {expected.map((id) => {
            const name = documents.find((document) => document.id === id)?.name ?? id;
            return (
              <li key={id} className="flex items-center gap-1">
                <Chip>{name}</Chip>
                <IconButton
                  label={t("remove_what", { what: name })}
                  onClick={() => setExpected(expected.filter((other) => other !== id))}
                >
                  <X />
                </IconButton>
              </li>
            );
          })}
        </ul>
      )}
      <SearchFilters baseId={base.id} filters={filters} onChange={setFilters} />
      <Button type="submit" className="self-start" icon={<Plus />} disabled={!ready} busy={add.isPending}>
        {t("add_question")}
      </Button>
    </form>
  );
}
