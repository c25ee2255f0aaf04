import { useQuery } from "@tanstack/react-query";
import { meQuery } from "@/api/queries/me";
import type { components } from "@/api/schema";

type Permission = components["schemas"]["Permission"];

/** Whether the person may do something: in the organisation, or in a space. What they may not is not offered. */
export function useRights() {
  const { data: me } = useQuery(meQuery);
  const may = (permission: Permission, spaceId?: string): boolean => {
    if (!me) return false;
    const { tenant, every_space, spaces } = me.permissions;
    if (tenant.includes(permission) || every_space.includes(permission)) return true;
    return spaces.some((one) => (!spaceId || one.space_id === spaceId) && one.permissions.includes(permission));
  };
  return { me, may };
}
