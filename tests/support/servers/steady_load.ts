import { visitAnew, visitKept, type Visits } from "./constant_visits.ts";
import type { EdgeConnection } from "./edge_connection.ts";
import { eventually } from "../eventually.ts";

/** The outcome of a load. */
export interface LoadOutcome {
  readonly answers: number;
  /** Requests without a complete 200 response, with the reason. */
  readonly failures: readonly string[];
  /** Responses with an older version than one that was seen before the request was sent. */
  readonly wentBack: readonly string[];
  /** The response bodies, in the order of their first appearance. */
  readonly versions: readonly string[];
}

/** A load over plain sockets, without hidden retries. */
export interface SteadyLoad {
  readonly port: number;
  readonly hostname: string;
  readonly keepAlive: number;
  readonly fresh: number;
  /** Returns whether the first body is older than the second. */
  readonly isOlder: (one: string, other: string) => boolean;
}

/** Short enough to notice a gap. Without it, the state of closed connections would keep the engine busy. */
const PAUSE_MS = 60;

/** Sends requests one after the other over persistent and new connections, until stopped. */
export function steadyLoad({ port, hostname, keepAlive, fresh, isOlder }: SteadyLoad) {
  const failures: string[] = [];
  const wentBack: string[] = [];
  const versions: string[] = [];
  let answers = 0;
  const stopping = new AbortController();

  async function ask(connection: EdgeConnection, close: boolean): Promise<void> {
    const newest = versions.at(-1);
    const body = await connection.request({ hostname, close });
    answers++;
    if (newest !== undefined && isOlder(body, newest)) wentBack.push(`${newest} ${body}`);
    if (!versions.includes(body)) versions.push(body);
  }

  const visits: Visits = {
    port,
    pauseMs: PAUSE_MS,
    signal: stopping.signal,
    ask,
    failed: (how, error) => failures.push(`${how}: ${String(error)}`),
  };
  const running = [
    ...Array.from({ length: keepAlive }, () => visitKept(visits)),
    ...Array.from({ length: fresh }, () => visitAnew(visits)),
  ];
  return {
    /** Resolves once a version was seen. */
    async saw(version: string): Promise<void> {
      await eventually(
        async () => versions,
        (seen) => seen.includes(version),
      );
    },
    async stop(): Promise<LoadOutcome> {
      stopping.abort();
      await Promise.all(running);
      return { answers, failures, wentBack, versions };
    },
  };
}
