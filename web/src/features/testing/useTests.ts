import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { meQuery } from "@/api/queries/me";
import {
  cancelTests,
  isStaleSet,
  readTests,
  runTests,
  saveTests,
  type TestCase,
  type TestSet,
  testKeys,
  testsQuery,
} from "@/api/queries/tests";
import { mayIn } from "@/api/rights";
import { toastError } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useTestTexts } from "./texts";

/** The tests of the open flow; how it stands is asked again when the draft was saved. */
export function useTests() {
  const flowId = useDraft((state) => state.flowId);
  const revision = useDraft((state) => state.revision);
  return useQuery({ ...testsQuery(flowId, revision), placeholderData: keepPreviousData });
}

/** What the caller may do with the tests of the open flow. */
export function useMay() {
  const spaceId = useDraft((state) => state.spaceId);
  const { data: me } = useQuery(meQuery);
  const may = (permission: "flows.edit" | "runs.test") => !me || mayIn(me, spaceId, permission);
  return { edit: may("flows.edit"), run: may("runs.test") };
}

/** Makes of a flow's tests what they are to be. Throws `ChangedMeanwhile` where that would lose what others did. */
export type Change = (cases: TestCase[]) => TestCase[];

/** The test that was to be changed is another one by now. */
export class ChangedMeanwhile extends Error {
  constructor(readonly theirs: TestCase) {
    super(theirs.name);
  }
}

/** How often a change is made again because others changed the tests between reading and saving them. */
const TRIES = 5;

async function saved(flowId: string, change: Change, tries = TRIES): Promise<TestSet> {
  const { revision, cases } = await readTests(flowId);
  try {
    return await saveTests(flowId, revision, change(cases));
  } catch (error) {
    if (tries > 1 && isStaleSet(error)) return saved(flowId, change, tries - 1);
    throw error;
  }
}

/** Changes the test set: one change after the other, each of what the server has by then, its other tests kept. */
export function useSave() {
  const t = useTestTexts();
  const client = useQueryClient();
  const flowId = useDraft((state) => state.flowId);
  return useMutation({
    scope: { id: `tests ${flowId}` },
    mutationFn: (change: Change) => saved(flowId, change),
    onSuccess: (found) => {
      client.setQueriesData({ queryKey: testKeys.sets(flowId) }, found);
    },
    onError: (error) => {
      if (!(error instanceof ChangedMeanwhile)) toastError(t("not_saved"), error);
      void client.invalidateQueries({ queryKey: testKeys.sets(flowId) });
    },
  });
}

/** Runs the tests of the draft as it is on the screen; the id of the result. */
export function useRun(onBegun: (resultId: string) => void) {
  const t = useTestTexts();
  const client = useQueryClient();
  const store = useDraftStore();
  const flowId = useDraft((state) => state.flowId);
  return useMutation({
    mutationFn: async (trials: number) => {
      await store.getState().flush();
      return runTests(flowId, trials);
    },
    onSuccess: (begun) => {
      client.setQueryData(testKeys.result(flowId, begun.id), begun);
      onBegun(begun.id);
      void client.invalidateQueries({ queryKey: testKeys.all(flowId) });
    },
    onError: (error) => toastError(t("not_begun"), error),
  });
}

/** Ends a result that is being made. */
export function useCancel() {
  const t = useTestTexts();
  const client = useQueryClient();
  const flowId = useDraft((state) => state.flowId);
  return useMutation({
    mutationFn: (resultId: string) => cancelTests(flowId, resultId),
    onSettled: () => client.invalidateQueries({ queryKey: testKeys.all(flowId) }),
    onError: (error) => toastError(t("not_stopped"), error),
  });
}
