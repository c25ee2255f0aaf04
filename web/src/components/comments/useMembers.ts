import { useQuery } from "@tanstack/react-query";
import { membersQuery } from "@/api/queries/people";
import { useDraft } from "@/lib/draft";

/** The members of the open flow's space, who can be mentioned; none while they are fetched. */
export function useMembers() {
  const spaceId = useDraft((state) => state.spaceId);
  return useQuery(membersQuery(spaceId)).data ?? [];
}
