import { once } from "node:events";
import type { Connection } from "./open_connection.ts";

const GOODBYE_MS = 1000;

/** Closes a connection, gracefully at first, by force after a second. Resolves when it is closed. */
export async function hangUp({ client, socket }: Pick<Connection, "client" | "socket">): Promise<void> {
  if (socket.destroyed) return;
  const closed = once(socket, "close");
  const timer = setTimeout(() => socket.destroy(), GOODBYE_MS);
  client.end();
  await closed;
  clearTimeout(timer);
}
