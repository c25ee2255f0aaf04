import { useState } from "react";
import { createSpace, deleteSpace, renameSpace } from "@/api/queries/people";
import { type Space, spaceKeys } from "@/api/queries/spaces";
import { Button, Confirm, Dialog, Field, Input, Problem } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";

const TOUCHES = [spaceKeys.all, ["me"]] as const;

interface SpaceDialogProps {
  /** The one that gets another name; a new one where there is none. */
  space?: Space;
  onClose: () => void;
  onDone: (id: string) => void;
}

/** Makes a space, or gives one another name. */
export function SpaceDialog({ space, onClose, onDone }: SpaceDialogProps) {
  const t = useSettingsTexts();
  const [name, setName] = useState(space?.name ?? "");
  const save = useChange({
    change: (wanted: string) => (space ? renameSpace(space.id, wanted) : createSpace(wanted)),
    touches: TOUCHES,
    done: t(space ? "space_renamed" : "space_made", { name: name.trim() }),
  });
  const ready = name.trim() !== "" && name.trim() !== space?.name;
  const submit = () =>
    save.mutate(name.trim(), {
      onSuccess: ({ id }) => {
        onDone(id);
        onClose();
      },
    });
  return (
    <Dialog
      open
      size="sm"
      onOpenChange={(open) => !open && onClose()}
      title={space ? t("rename_what", { what: space.name }) : t("new_space")}
      {...(space ? {} : { description: t("new_space_more") })}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" disabled={!ready} busy={save.isPending} onClick={submit}>
            {t(space ? "save" : "make_space")}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) submit();
        }}
      >
        <Field label={t("name")} required>
          {(control) => <Input {...control} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        {save.isError && <Problem error={save.error} />}
      </form>
    </Dialog>
  );
}

/** Asks before a space goes; one with flows stays, and the server says so. */
export function DeleteSpace({ space, onClose }: { space: Space; onClose: () => void }) {
  const t = useSettingsTexts();
  const remove = useChange({
    change: deleteSpace,
    touches: TOUCHES,
    failed: t("space_stays"),
    done: t("space_gone", { name: space.name }),
  });
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("delete_what", { what: space.name })}
      action={t("delete")}
      busy={remove.isPending}
      onConfirm={() => remove.mutate(space.id, { onSettled: onClose })}
    >
      {t("delete_space_more")}
    </Confirm>
  );
}
