import type { Me } from "./types";

type Permission = Me["permissions"]["tenant"][number];

/** Whether somebody may do this in some space, whichever. */
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
