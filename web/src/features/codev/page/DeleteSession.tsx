import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type CodevSession, codevKeys, deleteSession } from "@/api/queries/codev";
import { Confirm, toastError } from "@/components/ui";
import { forgetKept } from "../model/useKept";
import { useCodevTexts } from "../texts";

interface DeleteSessionProps {
  session: CodevSession;
  onClose: () => void;
  onDeleted?: () => void;
}

/** Asks before a session is forgotten: what it wrote stays, and can then not be taken back. */
export function DeleteSession({ session, onClose, onDeleted }: DeleteSessionProps) {
  const t = useCodevTexts();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteSession(session.thread_id),
    onSuccess: () => {
      if (session.interrupt) forgetKept(session.interrupt.id);
      onDeleted?.();
      queries.removeQueries({ queryKey: codevKeys.one(session.thread_id) });
      void queries.invalidateQueries({ queryKey: codevKeys.all });
    },
    onError: (error) => toastError(t("delete_failed"), error),
    onSettled: onClose,
  });
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("delete_session")}
      action={t("delete")}
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
    >
      {session.flow_id ? t("delete_session_flow") : t("delete_session_more")}
    </Confirm>
  );
}
