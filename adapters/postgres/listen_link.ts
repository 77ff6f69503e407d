import postgres from "postgres";
import { connectionOptions } from "./connection_options.ts";
import type { Sql } from "./database.ts";

/** One connection that listens, for as long as it lasts; it never connects again by itself. */
export interface ListenLink {
  /** Resolves once a notification sent now came back, so that every earlier one has arrived; rejects when the connection is lost. */
  echo(): Promise<void>;
  /** Resolves once the connection answered; unlike an echo it writes nothing. */
  answers(): Promise<void>;
  listen(channels: Iterable<string>): Promise<void>;
  close(): void;
}

export interface ListenLinkEvents {
  readonly onNotify: (channel: string, payload: string) => void;
  /** Called once, when the connection broke or was closed. */
  readonly onLost: () => void;
}

const ECHO = "slipway_echo";

/** Makes a connection of its own; the first statement opens it. */
export function listenLink(url: string, { onNotify, onLost }: ListenLinkEvents): ListenLink {
  const echoes = new Map<string, PromiseWithResolvers<void>>();
  let lost = false;

  function lose(): void {
    if (lost) return;
    lost = true;
    for (const { reject } of echoes.values()) reject(new Error("the listening connection is lost"));
    echoes.clear();
    void sql.end({ timeout: 0 }).catch(() => {});
    onLost();
  }

  // Its own listen() connects again without a word, and what was sent meanwhile is missed unnoticed.
  const options = {
    ...connectionOptions(url),
    max: 1,
    connection: { application_name: "slipway-listen" },
    onclose: lose,
    onnotify: (channel: string, payload: string) => {
      if (lost) return;
      if (channel !== ECHO) onNotify(channel, payload);
      else echoes.get(payload)?.resolve();
    },
  };
  const sql = postgres(url, options) as unknown as Sql;

  return {
    async echo() {
      if (lost) throw new Error("the listening connection is lost");
      const id = crypto.randomUUID();
      const back = Promise.withResolvers<void>();
      echoes.set(id, back);
      try {
        await Promise.all([sql`select pg_notify(${ECHO}, ${id})`, back.promise]);
      } finally {
        echoes.delete(id);
      }
    },
    async answers() {
      await sql`select 1`;
      if (lost) throw new Error("the listening connection is lost");
    },
    async listen(channels) {
      const names = [ECHO, ...channels].map((name) => `listen "${name.replaceAll('"', '""')}"`);
      await sql.unsafe(names.join(";"));
    },
    close: lose,
  };
}
