import { FlaskConical, Plus } from "lucide-react";
import { useState } from "react";
import type { TestCase } from "@/api/queries/tests";
import { Button, Callout, EmptyState, Problem, Skeleton, toast } from "@/components/ui";
import { CaseDialog } from "./CaseDialog";
import { CaseList } from "./CaseList";
import { freeName } from "./expectations";
import type { Proposal } from "./fromRun";
import { Requirement } from "./Requirement";
import { Results } from "./Results";
import { useTestTexts } from "./texts";
import { useMay, useSave, useTests } from "./useTests";

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
  const [edited, setEdited] = useState<{ at: number | null } | null>(null);
  if (tests.isError) return <Problem error={tests.error} retry={() => void tests.refetch()} />;
  if (!tests.data) return <Skeleton className="m-4 h-80" />;
  const { cases } = tests.data;
  const names = cases.map((one) => one.name);
  const close = () => {
    setEdited(null);
    if (proposal) onProposalOver?.();
  };
  const keep = async (made: TestCase, at: number | null) => {
    await save.mutateAsync(at === null ? [...cases, made] : cases.map((one, index) => (index === at ? made : one)));
    close();
  };
  const remove = (gone: TestCase) =>
    save.mutate(
      cases.filter((one) => one.name !== gone.name),
      {
        onSuccess: () =>
          toast({
            title: t("removed", { name: gone.name }),
            action: { label: t("undo"), onClick: () => save.mutate(cases) },
          }),
      },
    );
  const opened = edited?.at === undefined || edited.at === null ? undefined : cases[edited.at];
  const proposed = proposal && { ...proposal.test, name: freeName(proposal.test.name, names) };
  return (
    <div className="mx-auto flex max-w-5xl flex-col gap-8 px-4 py-6 lg:px-8">
      <section aria-labelledby="tests-heading" className="flex flex-col gap-3">
        <div className="flex flex-wrap items-end gap-3">
          <div className="min-w-0 flex-1 basis-64">
            <h2 id="tests-heading" className="text-lg font-semibold">
              {t("tests")}
            </h2>
            <p className="text-sm text-muted">{t("tests_about")}</p>
          </div>
          {cases.length > 0 && may.edit && (
            <Button icon={<Plus />} onClick={() => setEdited({ at: null })}>
              {t("add")}
            </Button>
          )}
        </div>
        {!may.edit && <Callout>{t("view_only")}</Callout>}
        {cases.length === 0 ? (
          <EmptyState
            icon={<FlaskConical />}
            title={t("no_tests")}
            action={
              may.edit && (
                <Button kind="primary" icon={<Plus />} onClick={() => setEdited({ at: null })}>
                  {t("add")}
                </Button>
              )
            }
          >
            {t("no_tests_about")}
          </EmptyState>
        ) : (
          <CaseList cases={cases} editable={may.edit} onEdit={(at) => setEdited({ at })} onRemove={remove} />
        )}
      </section>
      {cases.length > 0 && <Results tests={tests.data} runnable={may.run} />}
      <Requirement tests={tests.data} editable={may.edit} />
      {(edited || proposed) && (
        <CaseDialog
          test={opened ?? proposed}
          answer={proposal?.answer}
          taken={names.filter((name) => name !== opened?.name)}
          busy={save.isPending}
          onClose={close}
          onKeep={(made) => void keep(made, edited?.at ?? null).catch(() => undefined)}
        />
      )}
    </div>
  );
}
