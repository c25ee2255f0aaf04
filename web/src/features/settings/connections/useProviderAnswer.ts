import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { connectionKeys, finishAuthorization } from "@/api/queries/connections";

/** Completes an authorization: the provider sends the browser here with a code. It is used once and leaves the URL. */
export function useProviderAnswer() {
  const queries = useQueryClient();
  const finish = useMutation({
    mutationFn: finishAuthorization,
    onSettled: () => queries.invalidateQueries({ queryKey: connectionKeys.all }),
  });
  const { mutate } = finish;
  useEffect(() => {
    const query = new URLSearchParams(window.location.search);
    const state = query.get("state");
    if (!state) return;
    window.history.replaceState(window.history.state, "", window.location.pathname);
    mutate({ state, code: query.get("code") ?? "", error: query.get("error") ?? "", iss: query.get("iss") ?? "" });
  }, [mutate]);
  return finish;
}
