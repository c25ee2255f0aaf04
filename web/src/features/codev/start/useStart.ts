import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { codevKeys, codevSessionQuery, startSession } from "@/api/queries/codev";
import { keepWish } from "./wish";

/** Starts a session, and leads to it. */
export function useStart() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: startSession,
    onSuccess: (session) => {
      keepWish("");
      queries.setQueryData(codevSessionQuery(session.thread_id).queryKey, session);
      void queries.invalidateQueries({ queryKey: codevKeys.lists });
      void navigate({ to: "/develop/$sessionId", params: { sessionId: session.thread_id } });
    },
  });
}
