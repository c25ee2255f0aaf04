import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

export const variableKeys = { all: ["variables"] as const };

/** Names of variables. There is no way to read a value. */
export const variablesQuery = queryOptions({
  queryKey: variableKeys.all,
  queryFn: async ({ signal }) => (await unwrap(api.GET("/api/v1/variables", { signal }))).items,
});

export interface VariableValue {
  value: string;
  secret: boolean;
  hosts: string[];
}

export const setVariable = (name: string, body: VariableValue) =>
  unwrap(api.PUT("/api/v1/variables/{name}", { params: { path: { name } }, body }));

export const deleteVariable = (name: string) =>
  unwrap(api.DELETE("/api/v1/variables/{name}", { params: { path: { name } } }));
