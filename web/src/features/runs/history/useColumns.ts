import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type SavedView, savedViewKeys, savedViewsQuery, saveView } from "@/api/queries/savedViews";
import { toastError } from "@/components/ui";
import { useRunTexts } from "../texts";
import { DEFAULT_COLUMNS, isColumn, type RunColumn } from "./columns";

/** The columns that the user has chosen, remembered on the server as the view without a name. */
export function useColumns() {
  const t = useRunTexts();
  const client = useQueryClient();
  const queryKey = savedViewKeys.of("runs");
  const kept = useQuery(savedViewsQuery("runs")).data?.find((view) => view.name === "");
  const columns: readonly RunColumn[] = kept ? (kept.settings.columns ?? []).filter(isColumn) : DEFAULT_COLUMNS;
  const save = useMutation({
    mutationFn: (next: RunColumn[]) => saveView({ place: "runs", name: "", settings: { filters: {}, columns: next } }),
    onMutate: (next) => {
      const view: SavedView = { id: "", place: "runs", name: "", settings: { filters: {}, columns: next } };
      client.setQueryData<SavedView[]>(queryKey, (views = []) => [view, ...views.filter((one) => one.name !== "")]);
    },
    onError: (error) => toastError(t("columns_failed"), error),
    onSettled: () => client.invalidateQueries({ queryKey }),
  });
  return { columns, setColumns: (next: RunColumn[]) => save.mutate(next) };
}
