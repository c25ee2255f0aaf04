import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { toast, toastError } from "./ui";

interface Change<V, R> {
  change: (wanted: V) => Promise<R>;
  /** What is asked anew afterwards. */
  touches: readonly QueryKey[];
  /** What is said when it did not work; nothing where the form itself shows the error. */
  failed?: string;
  /** What is said when it did. */
  done?: string;
}

/** A change on the server: what it touches is asked anew, and what went wrong is said. */
export function useChange<V = void, R = unknown>({ change, touches, failed, done }: Change<V, R>) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => {
      if (done) toast({ title: done, tone: "ok" });
    },
    onError: (error) => {
      if (failed) toastError(failed, error);
    },
    onSettled: () => Promise.all(touches.map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}
