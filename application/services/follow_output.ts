import type { DeploymentEvent } from "../../domain/deployments/deployment_event.ts";
import { refuseUnknownService } from "../../domain/deployments/refuse_unknown_service.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { findDeployment } from "../deployments/find_deployment.ts";
import type { FollowOptions } from "../deployments/follow_deployment.ts";
import {
  FEED_OPTIONS,
  type FeedOptions,
  type LogEvent,
  OutputFeed,
  type FeedUpdate,
  withinCharacters,
} from "./output_feed.ts";
import { OutputPoll, type OutputPollPorts } from "./output_poll.ts";
import { whileAllowed } from "../deployments/while_allowed.ts";

const RECHECK_MS = 2_000;

export interface FollowOutputOptions extends FollowOptions {
  /** The service to follow. Defaults to all services. */
  readonly service?: string | undefined;
}

/**
 * Streams the output of a deployment's services after number `since`, numbered like the runtime log, until the
 * deployment is no longer live and all lines were sent, or the caller loses the permission to read it. Returns
 * `undefined` when there is nothing left to send, and rejects for a service that it does not have. All followers of the same log in this process share one poll of the
 * runtime.
 */
export function followOutput(ports: OutputPollPorts, { recheckMs = RECHECK_MS, feed = FEED_OPTIONS } = {}) {
  const find = findDeployment(ports);
  const feeds = new Feeds(feed);
  return async function (
    by: Principal,
    id: string,
    { caller, service, signal, since }: FollowOutputOptions,
  ): Promise<AsyncIterable<readonly DeploymentEvent[]> | undefined> {
    const deployment = await find(by, id, "deployment:read");
    refuseUnknownService(deployment, service);
    if (await new OutputPoll(ports, id, service).isDone(deployment, since)) return undefined;
    const allowed = async () => void (await find(await caller(), id, "deployment:read"));
    const key = JSON.stringify([id, service ?? null]);
    const look = () => new OutputPoll(ports, id, service);
    return whileAllowed(allowed, recheckMs, (done) =>
      followed(feeds, { key, look, since, signal: AbortSignal.any([signal, done]) }),
    );
  };
}

interface Follower {
  readonly key: string;
  readonly look: () => OutputPoll;
  readonly since: number;
  readonly signal: AbortSignal;
}

/** Reads earlier output page by page, and then the shared feed. */
async function* followed(feeds: Feeds, follower: Follower): AsyncGenerator<readonly DeploymentEvent[]> {
  const { key, look, signal } = follower;
  const own = look();
  let at = follower.since;
  let feed: OutputFeed | undefined;
  try {
    while (!signal.aborted) {
      const { hasMore, lines } = await pageOf(own, at);
      if (lines.length > 0) {
        yield lines;
        at = lines.at(-1)!.seq;
        if (hasMore) continue;
      }
      feed ??= feeds.join(key, look, at);
      if (lines.length === 0) feed.rewind(at);
      let update: FeedUpdate;
      for (update = await feed.next(at, signal); isLines(update); update = await feed.next(at, signal)) {
        if (signal.aborted) return;
        yield update;
        at = update.at(-1)!.seq;
      }
      if (update === "behind") continue;
      if (update.end !== "gone") yield [{ ...update.end, seq: at }];
      return;
    }
  } finally {
    if (feed) feeds.leave(key, feed);
  }
}

/** The next lines, at most as many as may be buffered for a slow reader. */
async function pageOf(own: OutputPoll, since: number) {
  const { isFull, lines } = await own.page(since);
  const held = withinCharacters(lines);
  return { lines: held, hasMore: isFull || held.length < lines.length };
}

function isLines(update: FeedUpdate): update is readonly LogEvent[] {
  return Array.isArray(update);
}

/** The open feeds, by the log they follow. */
class Feeds {
  readonly #options: FeedOptions;
  readonly #open = new Map<string, OutputFeed>();

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  join(key: string, look: () => OutputPoll, since: number): OutputFeed {
    let feed = this.#open.get(key);
    if (!feed) {
      const own = look();
      feed = new OutputFeed((after) => own.look(after), since, this.#options);
      this.#open.set(key, feed);
    }
    feed.join();
    return feed;
  }

  leave(key: string, feed: OutputFeed): void {
    if (!feed.leave() && this.#open.get(key) === feed) this.#open.delete(key);
  }
}
