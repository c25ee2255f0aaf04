import { FlaskConical, Plus } from "lucide-react";
import { useState } from "react";
import type { TestCase } from "@/api/queries/tests";
import { CaseDialog, CaseList, freeName } from "@/components/cases";
import { Page } from "@/components/page";
import { Button, Callout, EmptyState, Problem, Skeleton, toast } from "@/components/ui";
import { same, useDraft } from "@/lib/draft";
import { FromQuestions } from "./FromQuestions";
import type { Proposal } from "./fromRun";
import { Requirement } from "./Requirement";
import { Results } from "./Results";
import { useTestTexts } from "./texts";
import { ChangedMeanwhile, useMay, useSave, useTests } from "./useTests";

interface TestsViewProps {
  proposal?: Proposal | undefined;
  onProposalOver?: () => void;
}

/** Cases, whether they have to pass, and what running them came to. */
export function TestsView({ proposal, onProposalOver }: TestsViewProps) {
  const t = useTestTexts();
  const tests = useTests();
  const save = useSave();
  const may = useMay();
  const form = useDraft((state) => state.document.form);
  const [edited, setEdited] = useState<Edited | null>(null);
  if (!tests.data) {
    return (
      <Page ofFlow title={t("tests")}>
        {tests.isError ? (
          <Problem error={tests.error} retry={() => void tests.refetch()} />
        ) : (
          <Skeleton className="h-80" />
        )}
      </Page>
    );
  }
  const { cases } = tests.data;
  const names = cases.map((one) => one.name);
  const close = () => {
    setEdited(null);
    if (proposal) onProposalOver?.();
  };
  const opened = edited?.test;
  const keep = (made: TestCase) =>
    save.mutate((now) => withCase(now, made, edited?.theirs ?? opened), {
      onSuccess: close,
      onError: (error) => {
        if (error instanceof ChangedMeanwhile) setEdited({ test: opened, theirs: error.theirs });
      },
    });
  const remove = (at: number) => {
    let gone = cases[at];
    if (!gone) return;
    const { name } = gone;
    const back = (now: TestCase[]) =>
      !gone || now.some((one) => one.name === name) ? now : now.toSpliced(at, 0, gone);
    const without = (now: TestCase[]) => {
      gone = now.find((one) => one.name === name) ?? gone;
      return now.filter((one) => one.name !== name);
    };
    const removed = () =>
      toast({
        title: t("removed", { name }),
        action: { label: t("undo"), onClick: () => save.mutate(back) },
      });
    // What fails is told by the mutation.
    save.mutateAsync(without).then(removed, () => undefined);
  };
  const proposed = proposal && may.edit ? { ...proposal.test, name: freeName(proposal.test.name, names) } : undefined;
  return (
    <Page
      ofFlow
      title={t("tests")}
      about={t("tests_about")}
      actions={may.edit && <AddTests some={cases.length > 0} onAdd={() => setEdited({ test: undefined })} />}
    >
      <section aria-label={t("tests")} className="flex flex-col gap-3">
        {!may.edit && <Callout>{t("view_only")}</Callout>}
        {cases.length === 0 ? (
          <EmptyState
            icon={<FlaskConical />}
            title={t("no_tests")}
            action={
              may.edit && (
                <Button kind="primary" icon={<Plus />} onClick={() => setEdited({ test: undefined })}>
                  {t("add")}
                </Button>
              )
            }
          >
            {t("no_tests_about")}
          </EmptyState>
        ) : (
          <CaseList
            cases={cases}
            {...(may.edit ? { onEdit: (at: number) => setEdited({ test: cases[at] }), onRemove: remove } : {})}
          />
        )}
      </section>
      {cases.length > 0 && <Results tests={tests.data} runnable={may.run} />}
      <Requirement tests={tests.data} editable={may.edit} />
      {(edited || proposed) && (
        <CaseDialog
          test={opened ?? proposed}
          theirs={edited?.theirs}
          form={form}
          answer={proposal?.answer}
          taken={names.filter((name) => name !== opened?.name)}
          busy={save.isPending}
          onClose={close}
          onKeep={keep}
        />
      )}
    </Page>
  );
}

/** The ways to more tests: of questions, and where there are some, one by one. */
function AddTests({ some, onAdd }: { some: boolean; onAdd: () => void }) {
  const t = useTestTexts();
  return (
    <>
      <FromQuestions />
      {some && (
        <Button icon={<Plus />} onClick={onAdd}>
          {t("add")}
        </Button>
      )}
    </>
  );
}

interface Edited {
  test: TestCase | undefined;
  /** What somebody else made of it meanwhile; keeping it now replaces that. */
  theirs?: TestCase;
}

/** The cases with one that was changed in the place of what it was, or with one more. */
function withCase(cases: readonly TestCase[], made: TestCase, before: TestCase | undefined): TestCase[] {
  const at = cases.findIndex(({ name }) => name === before?.name);
  const now = cases[at];
  if (!now) return [...cases, made];
  // Not by its text: a database may give the members of a form or a schema in another order than they were sent.
  if (!same(now, before) && !same(now, made)) throw new ChangedMeanwhile(now);
  return cases.with(at, made);
}
