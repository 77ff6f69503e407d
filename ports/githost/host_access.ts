import type { Secret } from "../../domain/secret.ts";

/** The identity that the git host is called with: an installation of the app, or the token of a user. */
export type HostAccess =
  | { readonly kind: "installation"; readonly installationId: number }
  | { readonly kind: "token"; readonly token: Secret };
