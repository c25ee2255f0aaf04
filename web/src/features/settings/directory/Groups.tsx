import { useQuery } from "@tanstack/react-query";
import { Plus, Users, X } from "lucide-react";
import { useState } from "react";
import {
  type DirectoryGroup,
  directoryGroupsQuery,
  directoryKeys,
  removeGroupRole,
  setGroupRole,
} from "@/api/queries/directory";
import { peopleKeys, type Role } from "@/api/queries/people";
import { spacesQuery } from "@/api/queries/spaces";
import { Button, IconButton, Listing, Row, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ROLES } from "../members/SpaceMembers";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";

/** The groups of the directory, and the roles that each gives in spaces. */
export function Groups() {
  const t = useSettingsTexts();
  const groups = useQuery(directoryGroupsQuery);
  return (
    <Part title={t("directory_groups")} about={t("directory_groups_about")}>
      <Listing
        label={t("directory_groups")}
        query={groups}
        empty={
          <p className="rounded-lg border border-line bg-surface px-4 py-3 text-muted">{t("no_directory_groups")}</p>
        }
      >
        {(group) => <Group key={group.id} group={group} />}
      </Listing>
    </Part>
  );
}

function Group({ group }: { group: DirectoryGroup }) {
  const t = useSettingsTexts();
  const [adding, setAdding] = useState(false);
  const touches = [directoryKeys.all, peopleKeys.all];
  const remove = useChange({
    change: (spaceId: string) => removeGroupRole(group.id, spaceId),
    touches,
    failed: t("save_failed"),
  });
  return (
    <Row
      icon={<Users />}
      title={group.name}
      detail={t("group_members", { count: group.members })}
      aside={
        <Button
          size="sm"
          icon={<Plus />}
          aria-expanded={adding}
          aria-label={t("add_role_for", { group: group.name })}
          onClick={() => setAdding(!adding)}
        >
          {t("add_role")}
        </Button>
      }
    >
      <ul className="mt-1 flex flex-wrap gap-2 pl-7.5">
        {group.roles.length === 0 && <li className="text-sm text-muted">{t("no_group_roles")}</li>}
        {group.roles.map((one) => {
          const role = t(`role_${one.role}`);
          return (
            <li
              key={one.space_id}
              className="flex max-w-full items-center gap-1 rounded-md border border-line bg-sunken py-0.5 pr-0.5 pl-2 text-sm"
            >
              <span className="min-w-0 truncate">{t("role_in", { role, space: one.space_name })}</span>
              <IconButton
                size="sm"
                label={t("remove_role_of", { role, space: one.space_name, group: group.name })}
                onClick={() => remove.mutate(one.space_id)}
              >
                <X />
              </IconButton>
            </li>
          );
        })}
      </ul>
      {adding && <NewRole group={group} touches={touches} onDone={() => setAdding(false)} />}
    </Row>
  );
}

interface NewRoleProps {
  group: DirectoryGroup;
  touches: readonly (readonly string[])[];
  onDone: () => void;
}

function NewRole({ group, touches, onDone }: NewRoleProps) {
  const t = useSettingsTexts();
  const spaces = useQuery(spacesQuery).data ?? [];
  const [space, setSpace] = useState<string>();
  const [role, setRole] = useState<Role>("editor");
  const set = useChange({
    change: (spaceId: string) => setGroupRole(group.id, spaceId, role),
    touches,
    failed: t("save_failed"),
  });
  return (
    <form
      aria-label={t("add_role_for", { group: group.name })}
      className="mt-2 flex flex-wrap gap-2 pl-7.5"
      onSubmit={(event) => {
        event.preventDefault();
        if (space) set.mutate(space, { onSuccess: onDone });
      }}
    >
      <Select
        aria-label={t("space")}
        placeholder={t("space")}
        className="w-56"
        value={space}
        options={spaces.map(({ id, name }) => ({ value: id, label: name }))}
        onChange={setSpace}
      />
      <Select
        aria-label={t("role")}
        className="w-36"
        value={role}
        options={ROLES.map((one) => ({ value: one, label: t(`role_${one}`) }))}
        onChange={setRole}
      />
      <Button type="submit" disabled={!space} busy={set.isPending}>
        {t("save")}
      </Button>
    </form>
  );
}
