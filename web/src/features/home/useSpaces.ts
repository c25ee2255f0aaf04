import { useQuery } from "@tanstack/react-query";
import { spacesQuery } from "@/api/queries/spaces";

/** The spaces that the person sees; none while they are fetched. */
export function useSpaces() {
  return useQuery(spacesQuery).data ?? [];
}
