import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type CodevSession, codevKeys, codevSessionQuery, rollBackSession } from "@/api/queries/codev";
import { flowKeys } from "@/api/queries/flows";
import { Confirm, Problem, toast } from "@/components/ui";
import { readWrites } from "../model/known";
import { capital } from "../model/said";
import { useCodevTexts } from "../texts";

const MOST_SHOWN = 6;

/** Says what will be taken back before it is, and what came of it. */
export function RollBack({ session, onClose }: { session: CodevSession; onClose: () => void }) {
  const t = useCodevTexts();
  const queries = useQueryClient();
  const id = session.thread_id;
  const name = session.flow_name || t("the_flow");
  const writes = readWrites(session.state?.writes).filter((one) => one.state === "done");
  const back = useMutation({
    mutationFn: () => rollBackSession(id),
    onSuccess: (after) => {
      queries.setQueryData(codevSessionQuery(id).queryKey, after);
      toast({ title: after.flow_id ? t("rolled_back", { name }) : t("rolled_back_removed", { name }), tone: "ok" });
      onClose();
    },
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: codevKeys.all });
      void queries.invalidateQueries({ queryKey: flowKeys.all });
    },
  });
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("roll_back_this")}
      action={t("roll_back")}
      busy={back.isPending}
      onConfirm={() => back.mutate()}
    >
      <p>{t("roll_back_more", { name })}</p>
      {writes.length > 0 && (
        <ul aria-label={t("writes")} className="mt-2 list-disc pl-5 text-sm">
          {writes.slice(-MOST_SHOWN).map((one) => (
            <li key={one.number} className="break-words">
              {capital(one.summary)}
            </li>
          ))}
          {writes.length > MOST_SHOWN && <li>{t("and_more", { count: writes.length - MOST_SHOWN })}</li>}
        </ul>
      )}
      <p className="mt-2">{t("roll_back_others")}</p>
      {back.isError && (
        <div className="mt-3">
          <Problem error={back.error} />
        </div>
      )}
    </Confirm>
  );
}
