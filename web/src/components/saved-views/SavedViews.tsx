import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Bookmark, Trash2 } from "lucide-react";
import { useState } from "react";
import {
  deleteView,
  type SavedView,
  savedViewKeys,
  savedViewsQuery,
  saveView,
  type ViewPlace,
  type ViewSettings,
} from "@/api/queries/savedViews";
import { FormDialog } from "@/components/FormDialog";
import { Button, Field, IconButton, Input, Popover, toast, toastError } from "@/components/ui";
import { useSavedViewTexts } from "./texts";

interface SavedViewsProps {
  place: ViewPlace;
  /** What is shown now. */
  current: ViewSettings;
  onChoose: (view: SavedView) => void;
}

/** The views of a list that the user has saved: choose, save, delete. */
export function SavedViews({ place, current, onChoose }: SavedViewsProps) {
  const t = useSavedViewTexts();
  const views = (useQuery(savedViewsQuery(place)).data ?? []).filter((view) => view.name !== "");
  const [open, setOpen] = useState(false);
  const [naming, setNaming] = useState(false);
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: savedViewKeys.of(place) });
  const remove = useMutation({ mutationFn: deleteView, onSettled, onError: (error) => toastError(t("failed"), error) });
  return (
    <>
      <Popover
        open={open}
        onOpenChange={setOpen}
        align="end"
        label={t("views")}
        className="w-64 p-1"
        trigger={
          <Button size="sm" icon={<Bookmark aria-hidden />}>
            {t("views")}
          </Button>
        }
      >
        {views.length === 0 && <p className="px-2 py-1.5 text-sm text-muted">{t("no_views")}</p>}
        <ul>
          {views.map((view) => (
            <li key={view.id} className="flex items-center gap-1 rounded-md hover:bg-hover">
              <button
                type="button"
                className="min-w-0 flex-1 truncate px-2 py-1.5 text-left"
                onClick={() => {
                  onChoose(view);
                  setOpen(false);
                }}
              >
                {view.name}
              </button>
              <IconButton label={t("delete_view", { name: view.name })} onClick={() => remove.mutate(view.id)}>
                <Trash2 />
              </IconButton>
            </li>
          ))}
        </ul>
        <button
          type="button"
          className="mt-1 w-full rounded-md border-t border-line px-2 py-1.5 text-left text-accent hover:bg-hover"
          onClick={() => {
            setOpen(false);
            setNaming(true);
          }}
        >
          {t("save_view")}
        </button>
      </Popover>
      {naming && <NameDialog place={place} current={current} onClose={() => setNaming(false)} />}
    </>
  );
}

function NameDialog({ place, current, onClose }: Omit<SavedViewsProps, "onChoose"> & { onClose: () => void }) {
  const t = useSavedViewTexts();
  const [name, setName] = useState("");
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: () => saveView({ place, name: name.trim(), settings: current }),
    onSuccess: () => {
      toast({ title: t("saved"), tone: "ok" });
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: savedViewKeys.of(place) }),
  });
  return (
    <FormDialog
      title={t("save_view")}
      action={t("save")}
      ready={name.trim() !== ""}
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <Field label={t("name")} help={t("name_more")}>
        {(field) => <Input {...field} maxLength={80} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
    </FormDialog>
  );
}
