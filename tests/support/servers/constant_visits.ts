import { EdgeConnection } from "./edge_connection.ts";

/** What is asked again and again, and for how long. */
export interface Visits {
  readonly port: number;
  readonly pauseMs: number;
  readonly signal: AbortSignal;
  /** Asks once; `close` when the connection is not to be used again. */
  readonly ask: (connection: EdgeConnection, close: boolean) => Promise<void>;
  /** Told what was not answered. */
  readonly failed: (how: "kept" | "fresh", error: unknown) => void;
}

/** Asks over one connection for as long as it stays open, then over the next, until stopped. */
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

/** Asks over a fresh connection each time, until stopped. */
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
