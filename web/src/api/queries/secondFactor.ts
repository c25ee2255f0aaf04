import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

export const secondFactorKeys = { own: ["second-factor"] as const, policy: ["sign-in-policy"] as const };

/** The caller's second factors. */
export const secondFactorQuery = queryOptions({
  queryKey: secondFactorKeys.own,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/me/second-factor", { signal })),
});

/** What the organisation requires of those who sign in with a password. */
export const signInPolicyQuery = queryOptions({
  queryKey: secondFactorKeys.policy,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/sign-in-policy", { signal })),
});

export const setSignInPolicy = (second_factor_required: boolean) =>
  unwrap(api.PUT("/api/v1/sign-in-policy", { body: { second_factor_required } }));

export const beginTotp = () => unwrap(api.POST("/api/v1/me/second-factor/totp"));

export const confirmTotp = (code: string) =>
  unwrap(api.POST("/api/v1/me/second-factor/totp/confirm", { body: { code } }));

export const removeTotp = () => unwrap(api.DELETE("/api/v1/me/second-factor/totp"));

export const renewRecoveryCodes = () => unwrap(api.POST("/api/v1/me/second-factor/recovery-codes"));

export const confirmSession = (proof: { password?: string; code?: string }) =>
  unwrap(api.POST("/api/v1/me/confirm", { body: proof }));

export const resetSecondFactor = (user_id: string) =>
  unwrap(api.DELETE("/api/v1/users/{user_id}/second-factor", { params: { path: { user_id } } }));
