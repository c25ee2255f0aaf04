import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

export const passkeyKeys = { all: ["passkeys"] as const };

/** The caller's passkeys, and whether they can be used at this address. */
export const passkeysQuery = queryOptions({
  queryKey: passkeyKeys.all,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/me/passkeys", { signal })),
});

/** Whether this browser knows passkeys as the server speaks of them. */
export function knowsPasskeys(): boolean {
  return typeof PublicKeyCredential !== "undefined" && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

type Json = Record<string, unknown>;

async function asked(options: Json): Promise<Json> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return answerOf(await navigator.credentials.get({ publicKey }));
}

function answerOf(credential: Credential | null): Json {
  return (credential as PublicKeyCredential).toJSON() as unknown as Json;
}

/** The browser asks its user for a passkey, which signs them in. */
export async function signInWithPasskey() {
  const { options } = await unwrap(api.POST("/api/v1/sign-in/passkey/options"));
  const credential = await asked(options);
  return unwrap(api.POST("/api/v1/sign-in/passkey", { body: { credential } }));
}

/** The same, to confirm the session. */
export async function confirmWithPasskey() {
  const { options } = await unwrap(api.POST("/api/v1/me/confirm/passkey/options"));
  const credential = await asked(options);
  return unwrap(api.POST("/api/v1/me/confirm/passkey", { body: { credential } }));
}

/** The browser makes a passkey. */
export async function addPasskey(name: string) {
  const { options } = await unwrap(api.POST("/api/v1/me/passkeys/options"));
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  const credential = answerOf(await navigator.credentials.create({ publicKey }));
  return unwrap(api.POST("/api/v1/me/passkeys", { body: { name, credential } }));
}

export const removePasskey = (passkey_id: string) =>
  unwrap(api.DELETE("/api/v1/me/passkeys/{passkey_id}", { params: { path: { passkey_id } } }));

export const renamePasskey = ({ id, name }: { id: string; name: string }) =>
  unwrap(api.PATCH("/api/v1/me/passkeys/{passkey_id}", { params: { path: { passkey_id: id } }, body: { name } }));
