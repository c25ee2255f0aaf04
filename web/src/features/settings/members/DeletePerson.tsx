import { deletePerson, type Person, peopleKeys } from "@/api/queries/people";
import { Confirm } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";

/** Asks before a user is deleted, and says what stays. */
export function DeletePerson({ person, onClose }: { person: Person; onClose: () => void }) {
  const t = useSettingsTexts();
  const remove = useChange({
    change: deletePerson,
    touches: [peopleKeys.all],
    failed: t("delete_person_failed"),
    done: t("person_deleted", { name: person.name }),
  });
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("delete_what", { what: person.name })}
      action={t("delete")}
      busy={remove.isPending}
      onConfirm={() => remove.mutate(person.id, { onSettled: onClose })}
    >
      {t("delete_person_more")}
    </Confirm>
  );
}
