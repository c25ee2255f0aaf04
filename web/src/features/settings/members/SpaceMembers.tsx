import { useQuery } from "@tanstack/react-query";
import { Ellipsis, Pencil, Plus, Trash2, UserRound, X } from "lucide-react";
import { useRef, useState } from "react";
import { membersQuery, peopleKeys, peopleQuery, putMember, type Role, removeMember } from "@/api/queries/people";
import { type Space, spaceKeys } from "@/api/queries/spaces";
import { useRights } from "@/api/rights";
import { Button, IconButton, Listing, Menu, Row, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { Part } from "../Section";
import { SpaceSelect, useSpace } from "../SpaceSelect";
import { useSettingsTexts } from "../texts";
import { DeleteSpace, SpaceDialog } from "./SpaceDialogs";

export const ROLES: readonly Role[] = ["viewer", "runner", "editor", "publisher", "owner"];

/** The people of one space and their roles. */
export function SpaceMembers() {
  const t = useSettingsTexts();
  const { me, may } = useRights();
  const chosen = useSpace();
  const space = chosen.space;
  const spaceId = space?.id ?? "";
  const members = useQuery({ ...membersQuery(spaceId), enabled: spaceId !== "" });
  const [naming, setNaming] = useState<Space | "new" | null>(null);
  const [deleting, setDeleting] = useState<Space | null>(null);
  const menu = useRef<HTMLButtonElement>(null);
  // The item of the menu that opened a dialog is gone when it closes: its button gets the focus.
  const closed = () => {
    setNaming(null);
    setDeleting(null);
    if (naming !== "new") setTimeout(() => menu.current?.focus());
  };
  const touches = [peopleKeys.all, spaceKeys.all, ["me"]];
  const put = useChange({
    change: ({ id, role }: { id: string; role: Role }) => putMember(spaceId, id, role),
    touches,
    failed: t("save_failed"),
  });
  const remove = useChange({ change: (id: string) => removeMember(spaceId, id), touches, failed: t("save_failed") });
  const manage = may("spaces.manage", spaceId);
  const roles = ROLES.map((role) => ({ value: role, label: t(`role_${role}`) }));
  return (
    <Part
      title={space ? t("space_called", { name: space.name }) : t("spaces")}
      about={t("roles_about")}
      action={
        <div className="flex flex-wrap items-center gap-2">
          <SpaceSelect {...chosen} />
          {space && manage && (
            <Menu
              items={[
                { id: "rename", label: t("rename_space"), icon: <Pencil />, onSelect: () => setNaming(space) },
                {
                  id: "delete",
                  label: t("delete_space"),
                  icon: <Trash2 />,
                  danger: true,
                  onSelect: () => setDeleting(space),
                },
              ]}
            >
              <IconButton ref={menu} label={t("more_for", { who: space.name })}>
                <Ellipsis />
              </IconButton>
            </Menu>
          )}
          {may("spaces.create") && <Button onClick={() => setNaming("new")}>{t("new_space")}</Button>}
        </div>
      }
    >
      <Listing
        label={t("members_of", { space: space?.name ?? "" })}
        query={members}
        empty={<p className="rounded-lg border border-line bg-surface px-4 py-3 text-muted">{t("no_members")}</p>}
      >
        {(one) => (
          <Row
            key={one.user_id}
            icon={<UserRound />}
            muted={!one.active}
            title={one.user_id === me?.user.id ? t("you_are", { name: one.name }) : one.name}
            detail={[one.email, one.directory_role && t("through_group", { role: t(`role_${one.directory_role}`) })]
              .filter(Boolean)
              .join(" · ")}
            aside={
              manage ? (
                <>
                  <Select
                    aria-label={t("role_of", { who: one.name })}
                    className="w-36"
                    value={one.role}
                    options={roles}
                    onChange={(role) => put.mutate({ id: one.user_id, role })}
                  />
                  {one.assigned_role && (
                    <IconButton
                      size="sm"
                      label={t("remove_who", { who: one.name })}
                      onClick={() => remove.mutate(one.user_id)}
                    >
                      <X />
                    </IconButton>
                  )}
                </>
              ) : (
                <span className="text-sm text-muted">{t(`role_${one.role}`)}</span>
              )
            }
          />
        )}
      </Listing>
      {manage && may("people.view") && (
        <NewMember
          taken={members.data?.map(({ user_id }) => user_id) ?? []}
          roles={roles}
          busy={put.isPending}
          onAdd={(id, role) => put.mutate({ id, role })}
        />
      )}
      {naming && (
        <SpaceDialog {...(naming === "new" ? {} : { space: naming })} onClose={closed} onDone={chosen.choose} />
      )}
      {deleting && <DeleteSpace space={deleting} onClose={closed} />}
    </Part>
  );
}

interface NewMemberProps {
  taken: readonly string[];
  roles: { value: Role; label: string }[];
  busy: boolean;
  onAdd: (id: string, role: Role) => void;
}

function NewMember({ taken, roles, busy, onAdd }: NewMemberProps) {
  const t = useSettingsTexts();
  const people = (useQuery(peopleQuery).data ?? []).filter(({ id, active }) => active && !taken.includes(id));
  const [who, setWho] = useState<string>();
  const [role, setRole] = useState<Role>("editor");
  if (people.length === 0) return null;
  return (
    <form
      aria-label={t("add_member")}
      className="flex flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (who) onAdd(who, role);
        setWho(undefined);
      }}
    >
      <Select
        aria-label={t("person")}
        placeholder={t("person")}
        className="w-56"
        value={people.some(({ id }) => id === who) ? who : undefined}
        options={people.map(({ id, name, email }) => ({ value: id, label: email ?? name }))}
        onChange={setWho}
      />
      <Select aria-label={t("role")} className="w-36" value={role} options={roles} onChange={setRole} />
      <Button type="submit" icon={<Plus />} disabled={!who} busy={busy}>
        {t("add_member")}
      </Button>
    </form>
  );
}
