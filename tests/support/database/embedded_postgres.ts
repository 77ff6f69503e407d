import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from "../../../adapters/embedded_postgres/embedded_postgres.ts";
import { systemUser } from "../../../adapters/local/system_user.ts";

/** Starts an embedded PostgreSQL as a server does. */
export function embeddedPostgres(options: Omit<EmbeddedPostgresOptions, "user">): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ ...options, user: systemUser("slipway") });
}
