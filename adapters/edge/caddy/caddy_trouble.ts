import { readFileSync } from "node:fs";
import { loggedError } from "../../../domain/logged_error.ts";
import type { Log } from "../../../ports/system/log.ts";

const MIGRATION = "/proc/sys/net/ipv4/tcp_migrate_req";

/** Tells the operator why Caddy does not serve the apps, once for each reason, and when it does again. */
export class CaddyTrouble {
  readonly #log: Log | undefined;
  #reason = "";

  constructor(log: Log | undefined) {
    this.#log = log;
  }

  /** Whether Caddy serves what it has to, as far as is known. */
  get isOver(): boolean {
    return this.#reason === "";
  }

  note(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason === this.#reason) return;
    this.#reason = reason;
    this.#log?.write("warn", "Caddy does not serve the apps; this is tried again", { ...loggedError(error) });
  }

  end(): void {
    if (!this.isOver) this.#log?.write("info", "Caddy serves the apps now");
    this.#reason = "";
  }
}

/** Warns of what makes Caddy less safe or less reliable on this machine. */
export function warnOfCaddy(admin: string, log: Log | undefined): void {
  if (!admin.startsWith("unix:"))
    log?.write("warn", "Every program of this machine can read private keys from Caddy", {
      reason: "Its admin API is at a port. Let it listen on a Unix socket, and name that in CADDY_ADMIN",
    });
  if (!migratesConnections())
    log?.write("warn", "Caddy may reset new connections when routes or certificates change", {
      reason: "Run: sysctl -w net.ipv4.tcp_migrate_req=1",
    });
}

/** Returns whether Linux hands waiting connections of a closed listener on to the next one; `true` if it is unknown. */
function migratesConnections(): boolean {
  try {
    return readFileSync(MIGRATION, "utf8").trim() !== "0";
  } catch {
    return true;
  }
}
