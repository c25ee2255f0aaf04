import { useQuery } from "@tanstack/react-query";
import { spacesQuery } from "@/api/queries/spaces";
import { useRights } from "@/api/rights";
import type { Variable } from "@/api/types";
import { useSettingsTexts } from "../texts";

/** Who owns a variable: a space by its id, or the organisation. */
export interface Owner {
  id: string;
  label: string;
  /** Whether the user may set and delete its variables. */
  manage: boolean;
}

export const ORGANISATION = "organisation";

export const ownerOf = (one: Pick<Variable, "space_id">): string => one.space_id ?? ORGANISATION;

export const spaceOf = (owner: string): string | null => (owner === ORGANISATION ? null : owner);

/** The spaces that the user sees, their own first, then the organisation. */
export function useOwners(): Owner[] {
  const t = useSettingsTexts();
  const { me, may } = useRights();
  const spaces = useQuery(spacesQuery).data ?? [];
  const sorted = [...spaces].sort((a, b) => Number(b.id === me?.space?.id) - Number(a.id === me?.space?.id));
  return [
    ...sorted.map(({ id, name }) => ({ id, label: name, manage: may("space_variables.manage", id) })),
    { id: ORGANISATION, label: t("organisation"), manage: may("variables.manage") },
  ];
}
