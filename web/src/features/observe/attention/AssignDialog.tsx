import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { membersQuery, peopleQuery } from "@/api/queries/people";
import { FormDialog } from "@/components/FormDialog";
import { Field, Select } from "@/components/ui";
import { useObserveTexts } from "../texts";

interface AssignDialogProps {
  spaceId: string | null;
  onAssign: (userId: string) => void;
  onClose: () => void;
}

/** Asks to whom items are assigned: members of the space of the first, or users of the organisation. */
export function AssignDialog({ spaceId, onAssign, onClose }: AssignDialogProps) {
  const t = useObserveTexts();
  const [user, setUser] = useState<string>();
  const members = useQuery({ ...membersQuery(spaceId ?? ""), enabled: spaceId !== null }).data;
  const people = useQuery({ ...peopleQuery, enabled: spaceId === null }).data;
  const options = spaceId
    ? (members ?? []).map((member) => ({ value: member.user_id, label: member.name || member.email }))
    : (people ?? []).map((one) => ({ value: one.id, label: one.name || one.email }));
  return (
    <FormDialog
      title={t("assign")}
      action={t("assign_action")}
      ready={user !== undefined}
      busy={false}
      onSubmit={() => {
        if (user) onAssign(user);
        onClose();
      }}
      onClose={onClose}
    >
      <Field label={t("assign_to")}>
        {(field) => <Select {...field} className="w-full" value={user} options={options} onChange={setUser} />}
      </Field>
    </FormDialog>
  );
}
