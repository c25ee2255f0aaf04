import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

const signInKeys = { options: ["sign-in", "options"] as const, link: ["sign-in", "link"] as const };

/** How people sign in here. */
export const signInOptionsQuery = queryOptions({
  queryKey: signInKeys.options,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/sign-in", { signal })),
});

export const signIn = (body: components["schemas"]["SignInIn"]) => unwrap(api.POST("/api/v1/sign-in", { body }));

/** Whose one-time link it is. The token is no part of the key: keys are shown by tools. */
export const linkOwnerQuery = (token: string) =>
  queryOptions({
    queryKey: signInKeys.link,
    queryFn: ({ signal }) => unwrap(api.POST("/api/v1/password-links/look", { body: { token }, signal })),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });

/** Set the password with a one-time link; signs the person in. */
export const setPasswordByLink = (token: string, password: string, code?: string) =>
  unwrap(api.POST("/api/v1/password-links/use", { body: { token, password, code: code ?? null } }));

export const signOut = () => unwrap(api.POST("/api/v1/sign-out"));
