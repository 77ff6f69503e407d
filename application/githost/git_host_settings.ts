import type { Secret } from "../../domain/secret.ts";

/** The operator's settings of the git host. */
export interface GitHostSettings {
  readonly mode: "self-hosted" | "cloud";
  /** The address of the git host in a browser. */
  readonly webUrl: string;
  /** The address of this API, as the git host and browsers reach it. */
  readonly publicUrl: string;
  readonly app: { readonly slug: string } | undefined;
  /** Without a secret, users log in with a code on another device. */
  readonly oauth: { readonly clientId: string; readonly hasSecret: boolean } | undefined;
  /** Signs the deliveries of the app's own webhook. */
  readonly webhookSecret: Secret | undefined;
}

/** Returns the address that the git host sends browsers back to. */
export function callbackUrl({ publicUrl }: Pick<GitHostSettings, "publicUrl">): string {
  return `${publicUrl}/api/githost/connect/redirect`;
}

/** Returns the address that webhooks are delivered to. */
export function webhookUrl({ publicUrl }: Pick<GitHostSettings, "publicUrl">): string {
  return `${publicUrl}/api/githost/webhook`;
}
