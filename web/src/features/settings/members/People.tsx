import { useQuery } from "@tanstack/react-query";
import { Ellipsis, UserPlus } from "lucide-react";
import { useState } from "react";
import { changePerson, makePasswordLink, type Person, peopleKeys, peopleQuery } from "@/api/queries/people";
import { resetSecondFactor } from "@/api/queries/secondFactor";
import { endSessionsOf } from "@/api/queries/sessions";
import { useRights } from "@/api/rights";
import { Button, Chip, IconButton, Listing, Menu, Row } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago } from "@/lib/i18n/format";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";
import { DeletePerson } from "./DeletePerson";
import { InviteDialog, LinkDialog } from "./InviteDialog";

const usersOf = (people: Person[]) => people.filter(({ kind }) => kind === "user");

/** Everybody of the organisation; admins invite and change them. */
export function People() {
  const t = useSettingsTexts();
  const { me, may } = useRights();
  const people = useQuery({ ...peopleQuery, select: usersOf });
  const [inviting, setInviting] = useState(false);
  const [deleting, setDeleting] = useState<Person>();
  const touches = [peopleKeys.all];
  const change = useChange({
    change: ({ id, ...wanted }: { id: string; active?: boolean; role?: Person["role"] }) => changePerson(id, wanted),
    touches,
    failed: t("save_failed"),
  });
  const link = useChange({ change: makePasswordLink, touches, failed: t("link_failed") });
  const signOut = useChange({ change: endSessionsOf, touches, failed: t("save_failed"), done: t("sessions_ended") });
  const reset = useChange({ change: resetSecondFactor, touches, failed: t("save_failed"), done: t("factor_reset") });
  const manage = may("people.manage") && me?.signed_in_by !== "auto_login";
  return (
    <Part
      title={t("people")}
      about={me?.signed_in_by === "auto_login" ? t("people_auto_login") : t("people_about")}
      action={
        manage && (
          <Button kind="primary" icon={<UserPlus />} onClick={() => setInviting(true)}>
            {t("invite")}
          </Button>
        )
      }
    >
      <Listing label={t("people")} query={people} empty={null}>
        {(one) => (
          <Row
            key={one.id}
            muted={!one.active}
            title={
              <>
                {one.id === me?.user.id ? t("you_are", { name: one.name }) : one.name}
                {one.role === "admin" && <Chip tone="accent">{t("admin")}</Chip>}
                {!one.active && <Chip tone="warn">{t("shut_out")}</Chip>}
                {one.active && !one.can_sign_in && one.email && <Chip>{t("invited")}</Chip>}
              </>
            }
            detail={[one.email, one.last_sign_in_at && t("last_here", { when: ago(one.last_sign_in_at) })]
              .filter(Boolean)
              .join(" · ")}
            aside={
              manage &&
              one.id !== me?.user.id && (
                <Menu
                  items={[
                    { id: "link", label: t("make_link"), onSelect: () => link.mutate(one.id) },
                    {
                      id: "role",
                      label: t(one.role === "admin" ? "make_member" : "make_admin"),
                      onSelect: () => change.mutate({ id: one.id, role: one.role === "admin" ? "member" : "admin" }),
                    },
                    ...(one.email
                      ? [
                          { id: "sessions", label: t("end_all_sessions"), onSelect: () => signOut.mutate(one.id) },
                          { id: "factor", label: t("reset_factor"), onSelect: () => reset.mutate(one.id) },
                        ]
                      : []),
                    { kind: "line", id: "line" },
                    {
                      id: "active",
                      label: t(one.active ? "shut_them_out" : "let_them_in"),
                      danger: one.active,
                      onSelect: () => change.mutate({ id: one.id, active: !one.active }),
                    },
                    ...(one.email
                      ? [{ id: "delete", label: t("delete_person"), danger: true, onSelect: () => setDeleting(one) }]
                      : []),
                  ]}
                >
                  <IconButton size="sm" label={t("more_for", { who: one.name })}>
                    <Ellipsis />
                  </IconButton>
                </Menu>
              )
            }
          />
        )}
      </Listing>
      {deleting && <DeletePerson person={deleting} onClose={() => setDeleting(undefined)} />}
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
      {link.data && <LinkDialog link={link.data} onClose={() => link.reset()} />}
    </Part>
  );
}
