import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Rocket } from "lucide-react";
import { useState } from "react";
import { flowKeys } from "@/api/queries/flows";
import { testKeys, testsQuery } from "@/api/queries/tests";
import { dryRunQuery, publish, versionKeys } from "@/api/queries/versions";
import { useRights } from "@/api/rights";
import { Button, Callout, Field, Problem, Skeleton, Textarea, toast } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { CheckList } from "./CheckList";
import { checksOf, testsCheck } from "./checks";
import { useSavedDraft } from "./saved";
import { usePublishTexts } from "./texts";

/** What stands in the way, a note, and the button. */
export function PublishCard() {
  const t = usePublishTexts();
  const store = useDraftStore();
  const client = useQueryClient();
  const flowId = useDraft((state) => state.flowId);
  const spaceId = useDraft((state) => state.spaceId);
  const issues = useDraft((state) => state.issues);
  const revision = useSavedDraft();
  const { may } = useRights();
  // Looking ahead at a draft is for who may run it; others see what the draft says of itself.
  const ahead = may("runs.test", spaceId);
  const dryRun = useQuery({ ...dryRunQuery(flowId, revision ?? 0), enabled: revision !== null && ahead });
  const tests = useQuery({ ...testsQuery(flowId, revision ?? 0), enabled: revision !== null });
  const untested = testsCheck(tests.data, (state, names) => t(`tests_${state}`, { names }));
  const checks = checksOf(issues, dryRun.data);
  const blocking = [...checks, ...untested]
    .flatMap((one) => one.found)
    .filter((one) => one.severity === "error").length;
  const [notes, setNotes] = useState("");
  const [busy, setBusy] = useState(false);
  const [unfit, setUnfit] = useState<readonly string[]>([]);
  const [refusal, setRefusal] = useState<unknown>(null);
  const allowed = may("flows.publish", spaceId);

  const send = async () => {
    setBusy(true);
    setRefusal(null);
    try {
      if (!(await store.getState().flush())) return;
      const before = store.getState().publishedVersion;
      const made = await publish(flowId, notes);
      const release = made.release ?? made.version;
      setUnfit(made.notes ?? []);
      if (made.version === before) {
        // A release keeps what was said of it: what is written here waits for the next.
        toast({ title: t("unchanged", { release }), detail: t("unchanged_more") });
      } else {
        store.getState().setPublished(made.version);
        setNotes("");
        toast({ title: t("published", { release }), tone: "ok" });
      }
      await client.invalidateQueries({ queryKey: versionKeys.all(flowId) });
      await client.invalidateQueries({ queryKey: flowKeys.lists });
    } catch (error) {
      setRefusal(error);
      await client.invalidateQueries({ queryKey: testKeys.all(flowId) });
    } finally {
      setBusy(false);
    }
  };

  return (
    <div className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4">
      {revision === null || (ahead && dryRun.isPending) ? (
        <Skeleton className="h-50" />
      ) : (
        <CheckList checks={[...checks, ...untested]} lookedAhead={dryRun.data !== undefined} />
      )}
      {refusal !== null && <Problem error={refusal} />}
      {unfit.length > 0 && (
        <Callout tone="warn" title={t("triggers_unfit")}>
          {unfit.map((note) => (
            <p key={note}>{note}</p>
          ))}
        </Callout>
      )}
      <Field label={t("note")} help={t("note_help")}>
        {(control) => (
          <Textarea
            {...control}
            rows={2}
            maxLength={2000}
            value={notes}
            disabled={!allowed}
            onChange={(event) => setNotes(event.target.value)}
          />
        )}
      </Field>
      <div className="flex flex-wrap items-center gap-3">
        <Button
          kind="primary"
          size="lg"
          icon={<Rocket />}
          busy={busy}
          disabled={!allowed || revision === null || blocking > 0}
          onClick={() => void send()}
        >
          {t("publish_now")}
        </Button>
        <p className="min-w-56 flex-1 text-sm text-muted">
          {allowed ? (blocking > 0 ? t("blocked", { count: blocking }) : t("publish_more")) : t("not_allowed")}
        </p>
      </div>
    </div>
  );
}
