import { useQuery } from "@tanstack/react-query";
import { meQuery } from "./queries/me";
import type { Me } from "./types";

export type Permission = Me["permissions"]["tenant"][number];

/** Whether somebody may do this: in the organisation or in some space, whichever. */
export function maySomewhere(me: Me, permission: Permission): boolean {
  const { tenant, every_space, spaces } = me.permissions;
  return [tenant, every_space, ...spaces.map((one) => one.permissions)].some((held) => held.includes(permission));
}

/** Whether somebody may do this in a space. */
export function mayIn(me: Me, spaceId: string, permission: Permission): boolean {
  const { every_space, spaces } = me.permissions;
  const own = spaces.find((one) => one.space_id === spaceId);
  return every_space.includes(permission) || (own?.permissions.includes(permission) ?? false);
}

/** What the person may do, in a space where one is named. What they may not do is not offered. */
export function useRights() {
  const { data: me } = useQuery(meQuery);
  const may = (permission: Permission, spaceId?: string): boolean =>
    me !== undefined && (spaceId ? mayIn(me, spaceId, permission) : maySomewhere(me, permission));
  return { me, may };
}
