import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { Variable } from "../types";

export const variableKeys = { all: ["variables"] as const };

/** Names of the variables of the organisation and of the spaces one sees. There is no way to read a value. */
export const variablesQuery = queryOptions({
  queryKey: variableKeys.all,
  queryFn: async ({ signal }) => (await unwrap(api.GET("/api/v1/variables", { signal }))).items,
});

/** Flows that read a secret in a run that is still stored, the last read first. */
export const variableUsesQuery = queryOptions({
  queryKey: [...variableKeys.all, "uses"],
  queryFn: async ({ signal }) => (await unwrap(api.GET("/api/v1/variable-uses", { signal }))).items,
});

/** The variables that flows of a space get: its own, and the organisation's that it does not replace. */
export const usedIn = (spaceId: string, variables: readonly Variable[]): Variable[] =>
  variables.filter((one) => (one.space_id === null ? !one.replaced_in?.includes(spaceId) : one.space_id === spaceId));

export interface VariableValue {
  value: string;
  secret: boolean;
  hosts: string[];
}

/** Set a variable of a space, or of the organisation for null. */
export const setVariable = (spaceId: string | null, name: string, body: VariableValue) =>
  spaceId === null
    ? unwrap(api.PUT("/api/v1/organisation/variables/{name}", { params: { path: { name } }, body }))
    : unwrap(api.PUT("/api/v1/variables/{name}", { params: { path: { name }, query: { space_id: spaceId } }, body }));

export const deleteVariable = ({ name, space_id }: Pick<Variable, "name" | "space_id">) =>
  space_id === null
    ? unwrap(api.DELETE("/api/v1/organisation/variables/{name}", { params: { path: { name } } }))
    : unwrap(api.DELETE("/api/v1/variables/{name}", { params: { path: { name }, query: { space_id } } }));
