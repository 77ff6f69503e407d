import { visitAnew, visitKept, type Visits } from "./constant_visits.ts";
import type { EdgeConnection } from "./edge_connection.ts";
import { eventually } from "../eventually.ts";

/** What came of a load. */
export interface LoadOutcome {
  readonly answers: number;
  /** Requests without a whole answer of 200, with the reason. */
  readonly failures: readonly string[];
  /** Answers with an older version than one that had been seen before their request was sent. */
  readonly wentBack: readonly string[];
  /** The bodies that were answered, in the order of their first appearance. */
  readonly versions: readonly string[];
}

/** A load over plain sockets, where nothing is tried again behind the test's back. */
export interface SteadyLoad {
  readonly port: number;
  readonly hostname: string;
  readonly keepAlive: number;
  readonly fresh: number;
  /** Tells of two bodies whether the first is older than the second. */
  readonly isOlder: (one: string, other: string) => boolean;
}

/** Busy enough to notice a gap; without it the engine would be kept busy with the traces of connections that are long closed. */
const PAUSE_MS = 20;

/** Sends requests one after the other over connections that stay open and over fresh ones, until stopped. */
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
    /** Resolves once a version was answered. */
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
