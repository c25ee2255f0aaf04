import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "@/api/problem";
import {
  type CodevSession,
  codevKeys,
  codevRollbackQuery,
  codevSessionQuery,
  type Rollback,
  type RollbackChoice,
  rollBackSession,
} from "@/api/queries/codev";
import { flowKeys } from "@/api/queries/flows";
import { Button, Callout, Dialog, Problem, Skeleton, toast } from "@/components/ui";
import { useCodevTexts } from "../texts";
import { RollBackFlow } from "./RollBackFlow";

/** Shows what a rollback changes before it does, and asks where others changed the flow meanwhile. */
export function RollBack({ session, onClose }: { session: CodevSession; onClose: () => void }) {
  const t = useCodevTexts();
  const queries = useQueryClient();
  const id = session.thread_id;
  const name = session.flow_name || t("the_flow");
  const { data, error, refetch } = useQuery(codevRollbackQuery(id));
  const [choice, setChoice] = useState<RollbackChoice>();
  const back = useMutation({
    mutationFn: (preview: Rollback) => rollBackSession(id, preview.token, preview.conflict ? choice : undefined),
    onSuccess: (after, { conflict }) => {
      queries.setQueryData(codevSessionQuery(id).queryKey, after);
      const done = conflict && choice === "keep_theirs" ? "rolled_back_kept" : after.flow_id ? "rolled_back" : null;
      toast({ title: t(done ?? "rolled_back_removed", { name }), tone: "ok" });
      onClose();
    },
    onError: (problem) => {
      if (problem instanceof ApiError && problem.status === 409) {
        setChoice(undefined);
        void refetch();
      }
    },
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: codevKeys.all });
      void queries.invalidateQueries({ queryKey: flowKeys.all });
    },
  });
  const ready = data !== undefined && data.flows.length > 0 && (!data.conflict || choice !== undefined);
  return (
    <Dialog
      open
      size="lg"
      onOpenChange={(open) => !open && onClose()}
      title={t("roll_back_this")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="danger" busy={back.isPending} disabled={!ready} onClick={() => data && back.mutate(data)}>
            {t("roll_back")}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {error && <Problem error={error} retry={() => void refetch()} />}
        {!data && !error && <Skeleton className="h-40" />}
        {data && data.flows.length === 0 && <p>{t("roll_back_nothing")}</p>}
        {data?.conflict && <Callout tone="warn">{t("roll_back_conflict")}</Callout>}
        {data?.flows.map((flow) => (
          <RollBackFlow
            key={flow.flow_id}
            flow={flow}
            choice={choice}
            {...(flow.conflict ? { onChoose: setChoice } : {})}
          />
        ))}
        {back.isError && <Problem error={back.error} />}
      </div>
    </Dialog>
  );
}
