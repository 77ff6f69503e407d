import { EdgeConnection } from "./edge_connection.ts";

/** A request to repeat, and for how long. */
export interface Visits {
  readonly port: number;
  readonly pauseMs: number;
  readonly signal: AbortSignal;
  /** Sends one request. `close` means that the connection will not be reused. */
  readonly ask: (connection: EdgeConnection, close: boolean) => Promise<void>;
  /** Called for every failed request. */
  readonly failed: (how: "kept" | "fresh", error: unknown) => void;
}

/** Repeats requests over one connection for as long as it stays open, then over the next, until aborted. */
export async function visitKept({ port, pauseMs, signal, ask, failed }: Visits): Promise<void> {
  while (!signal.aborted) {
    try {
      using connection = await EdgeConnection.open(port);
      for (; !signal.aborted; await Bun.sleep(pauseMs)) await ask(connection, false);
    } catch (error) {
      failed("kept", error);
    }
  }
}

/** Repeats requests, each over a new connection, until aborted. */
export async function visitAnew({ port, pauseMs, signal, ask, failed }: Visits): Promise<void> {
  for (; !signal.aborted; await Bun.sleep(pauseMs)) {
    try {
      using connection = await EdgeConnection.open(port);
      await ask(connection, true);
    } catch (error) {
      failed("fresh", error);
    }
  }
}
