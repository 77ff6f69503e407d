import { describe, expect, test } from "bun:test";
import postgres from "postgres";
import { PostgresDeploymentEvents } from "../../adapters/postgres/deployment_events.ts";
import { EventFeed, type EventPage } from "../../adapters/postgres/event_feed.ts";
import type { PostgresSignals } from "../../adapters/postgres/signals.ts";
import type { DeploymentEvent, NewEvent } from "../../domain/deployments/deployment_event.ts";
import { invalid } from "../../domain/failure.ts";
import type { DeploymentEvents } from "../../ports/deployments/deployment_events.ts";
import { eventually } from "../support/eventually.ts";
import { migratedDatabase, openStores, vaultOf } from "../support/database/postgres_stores.ts";
import { aDeployment, logLine } from "../support/database/store_builders.ts";
import { tcpGate } from "../support/faults/tcp_gate.ts";

const NEVER = 1_000_000;

function lines(count: number): NewEvent[] {
  return Array.from({ length: count }, (_, index) => logLine(`line ${index}`));
}

function counted(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

/** Follows from the start until `count` events have arrived; resolves to their numbers. */
async function numbers(events: Pick<DeploymentEvents, "follow">, id: string, count: number): Promise<number[]> {
  const leaving = new AbortController();
  const seen: number[] = [];
  for await (const batch of events.follow(id, { since: 0, signal: leaving.signal })) {
    seen.push(...batch.map(({ seq }) => seq));
    if (seen.length >= count) leaving.abort();
  }
  return seen;
}

/** Signals between processes that never arrive; `reset` triggers a reset by hand. */
function silentSignals() {
  const resets = new Set<() => void>();
  const signals: Pick<PostgresSignals, "subscribe" | "onReset"> = {
    subscribe: () => () => {},
    onReset(handler) {
      resets.add(handler);
      return () => resets.delete(handler);
    },
  };
  return { signals, reset: () => resets.forEach((handler) => handler()) };
}

/** Changes the branch of a deployment, as this process or another one. */
function setBranch(id: string, branch: string, { deployments }: Awaited<ReturnType<typeof openStores>>) {
  return deployments.change(id, (stored) => ({ deployment: { ...stored, branch }, events: [] }));
}

describe("changing deployments in PostgreSQL", () => {
  test("a change of what this process has just stored takes one statement", async () => {
    await using database = await migratedDatabase();
    let statements = 0;
    await using world = await openStores({ url: database.url, onStatement: () => statements++ });
    const { id } = await aDeployment(world);
    await setBranch(id, "first", world);
    statements = 0;
    await setBranch(id, "second", world);
    expect(statements).toBe(1);
    expect(await world.deployments.get(id)).toMatchObject({ branch: "second" });
  });

  test("a change after that of another process is computed from what that one has stored", async () => {
    await using database = await migratedDatabase();
    const options = { url: database.url, vault: await vaultOf() };
    await using world = await openStores(options);
    await using elsewhere = await openStores(options);
    const { id } = await aDeployment(world);
    const unless = (branch: string) => () =>
      world.deployments.change(id, (stored) => {
        if (stored.branch === branch) throw new Error("refused");
        return undefined;
      });
    const longer = () =>
      world.deployments.change(id, (stored) => ({
        deployment: { ...stored, branch: `${stored.branch}!` },
        events: [],
      }));
    for (const [change, branch] of [
      [unless("ours"), "theirs"],
      [longer, "theirs!"],
    ] as const) {
      await setBranch(id, "ours", world);
      await setBranch(id, "theirs", elsewhere);
      expect(await change()).toMatchObject({ branch });
    }
    await setBranch(id, "theirs", elsewhere);
    await expect(unless("theirs")()).rejects.toThrow("refused");
  });
});

describe("following events in PostgreSQL", () => {
  test("events without a notification are found by polling", async () => {
    await using database = await migratedDatabase();
    await using world = await openStores({ url: database.url });
    const { id } = await aDeployment(world);
    const events = new PostgresDeploymentEvents(world.database, silentSignals().signals, 20);
    const following = numbers(events, id, 30);
    for (let round = 0; round < 3; round++) {
      await world.deploymentEvents.append(id, lines(10));
      await Bun.sleep(30);
    }
    expect(await following).toEqual(counted(1, 30));
  });

  test("events are read at once when notifications may have been missed", async () => {
    await using database = await migratedDatabase();
    await using world = await openStores({ url: database.url });
    const { id } = await aDeployment(world);
    const { signals, reset } = silentSignals();
    const following = numbers(new PostgresDeploymentEvents(world.database, signals, NEVER), id, 10);
    await Bun.sleep(20);
    await world.deploymentEvents.append(id, lines(10));
    reset();
    expect(await following).toEqual(counted(1, 10));
  });

  test("the database may be unavailable in between: nothing is lost or repeated", async () => {
    await using database = await migratedDatabase();
    await using gate = await tcpGate(Number(new URL(database.url).port));
    const vault = await vaultOf();
    await using direct = await openStores({ url: database.url, vault });
    await using world = await openStores({
      url: Object.assign(new URL(database.url), { port: `${gate.port}` }).href,
      vault,
    });
    const { id } = await aDeployment(direct);
    await direct.deploymentEvents.append(id, lines(20_000));
    const following = Array.from({ length: 5 }, () => numbers(world.deploymentEvents, id, 20_300));
    for (let round = 0; round < 3; round++) {
      await gate.shut();
      await direct.deploymentEvents.append(id, lines(100));
      await Bun.sleep(20);
      await gate.open();
      await world.signals.whenLive();
    }
    for (const seen of await Promise.all(following)) expect(seen).toEqual(counted(1, 20_300));
  });

  test("returns at once when aborted, even while the database does not answer", async () => {
    await using database = await migratedDatabase();
    await using gate = await tcpGate(Number(new URL(database.url).port));
    const url = Object.assign(new URL(database.url), { port: `${gate.port}` }).href;
    await using world = await openStores({ url, limitMs: 60_000 });
    const { id } = await aDeployment(world);
    await world.deploymentEvents.append(id, lines(10));
    const leaving = new AbortController();
    const iterator = world.deploymentEvents.follow(id, { since: 0, signal: leaving.signal })[Symbol.asyncIterator]();
    gate.freeze();
    const next = iterator.next();
    await Bun.sleep(20);
    leaving.abort();
    expect((await next).done).toBe(true);
    gate.thaw();
  });

  test("closing the stores ends all followers", async () => {
    await using database = await migratedDatabase();
    await using world = await openStores({ url: database.url });
    const { id } = await aDeployment(world);
    const following = numbers(world.deploymentEvents, id, 1);
    await Bun.sleep(10);
    world.deploymentEvents.close();
    expect(await following).toEqual([]);
    expect(await numbers(world.deploymentEvents, id, 1)).toEqual([]);
  });

  test("five hundred followers cost only a few statements", async () => {
    await using database = await migratedDatabase();
    let statements = 0;
    await using world = await openStores({ url: database.url, onStatement: () => statements++ });
    const { id } = await aDeployment(world);
    await world.deploymentEvents.append(id, lines(20_000));
    statements = 0;
    const following = Array.from({ length: 500 }, () => numbers(world.deploymentEvents, id, 21_000));
    for (let round = 0; round < 10; round++) await world.deploymentEvents.append(id, lines(100));
    for (const seen of await Promise.all(following)) expect(seen).toHaveLength(21_000);
    // Ten to append, at most ten to read the appended events, a handful for the existing ones.
    expect(statements).toBeLessThan(40);
  });

  test("a follower that is up to date gets the same list as all others", async () => {
    await using database = await migratedDatabase();
    await using world = await openStores({ url: database.url });
    const { id } = await aDeployment(world);
    const leaving = new AbortController();
    const two = [1, 2].map(() =>
      world.deploymentEvents.follow(id, { since: 0, signal: leaving.signal })[Symbol.asyncIterator](),
    );
    // A new follower may still read the existing events by itself.
    await world.deploymentEvents.append(id, lines(1));
    await Promise.all(two.map((each) => each.next()));
    const next = two.map((each) => each.next());
    await world.deploymentEvents.append(id, lines(10));
    const [one, other] = await Promise.all(next);
    expect(one!.value).toHaveLength(10);
    expect(one!.value).toBe(other!.value);
    leaving.abort();
  });
});

/** A source of `count` events in pages of 500 that records which pages were read. */
function source(count: number) {
  const reads: number[] = [];
  return {
    reads,
    async page(since: number): Promise<EventPage> {
      reads.push(since);
      const events = counted(since + 1, Math.min(500, count - since));
      return { events: events.map((seq) => ({ ...logLine("x"), seq }) as DeploymentEvent), bytes: events.length * 100 };
    },
  };
}

describe("EventFeed", () => {
  test("keeps a bounded number of events, and reads again for followers that are behind", async () => {
    const { reads, page } = source(100_000);
    const feed = new EventFeed({ last: async () => 0, page }, NEVER);
    const { signal } = new AbortController();
    using quick = feed.join(0, signal);
    using slow = feed.join(0, signal);
    const first = quick.next();
    await Bun.sleep(1);
    feed.announce(100_000);
    let at = (await first)!.at(-1)!.seq;
    while (at < 100_000) at = (await quick.next())!.at(-1)!.seq;
    expect(reads).toEqual(counted(0, 200).map((index) => index * 500));
    expect((await slow.next())![0]!.seq).toBe(1);
    expect(reads).toHaveLength(201);
    using recent = feed.join(99_000, signal);
    expect((await recent.next())![0]!.seq).toBe(99_001);
    expect(reads).toHaveLength(201);
    feed.close();
  });

  test("reads on only as fast as its followers consume", async () => {
    const { reads, page } = source(100_000);
    const feed = new EventFeed({ last: async () => 0, page }, NEVER);
    using follower = feed.join(0, new AbortController().signal);
    const first = follower.next();
    await Bun.sleep(1);
    feed.announce(100_000);
    expect(await first).toHaveLength(500);
    await Bun.sleep(20);
    expect(reads).toEqual([0]);
    feed.close();
  });

  test("passes an error on to its followers", async () => {
    const fault = invalid("broken", "Cannot read this");
    const feed = new EventFeed({ last: () => Promise.reject(fault), page: () => Promise.reject(fault) }, NEVER);
    using follower = feed.join(0, new AbortController().signal);
    await expect(follower.next()).rejects.toBe(fault);
  });
});

describe("deployments in PostgreSQL", () => {
  test("no statement can start two deployments of a project at once", async () => {
    await using database = await migratedDatabase();
    await using world = await openStores({ url: database.url });
    const first = await aDeployment(world, { status: "partial_failure" });
    const { organizationId, projectId } = first;
    const second = await aDeployment(world, { organizationId, projectId });
    const { sql } = world.database;
    await expect(
      (async () => sql`update deployments set status = 'building' where id = ${second.id}`)(),
    ).rejects.toThrow("deployments_one_at_a_time");
  });

  test("a project gets one worker, even if its held deployment is started while the next one is being taken", async () => {
    await using database = await migratedDatabase();
    await using world = await openStores({ url: database.url });
    const first = await aDeployment(world, { held: true, queuedAt: new Date(0) });
    const { organizationId, projectId } = first;
    const second = await aDeployment(world, { organizationId, projectId });
    const hand = postgres(database.url, { max: 2, onnotice: () => {} });
    const take = (owner: string) => world.deploymentQueue.take({ owner, leaseMs: 60_000, maxBuilds: 9 });
    let taking: ReturnType<typeof take>[] = [];
    await hand.begin(async (held) => {
      await held`select 1 from deployments where id = ${second.id} for update`;
      taking = [take("one")];
      await eventually(
        () => hand`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        (rows) => rows.length > 0,
      );
      await world.deployments.change(first.id, (deployment) => ({
        deployment: { ...deployment, held: false },
        events: [],
      }));
      taking.push(take("other"));
      await Bun.sleep(50);
    });
    const taken = (await Promise.all(taking)).map((deployment) => deployment?.id);
    expect(taken).toEqual([second.id, undefined]);
    await hand.end();
  });

  test("removing a deployment and its project at once does not deadlock", async () => {
    await using database = await migratedDatabase();
    await using world = await openStores({ url: database.url });
    const { id, organizationId, projectId } = await aDeployment(world);
    const change = () => ({ activeDeploymentId: id });
    await world.projects.change(organizationId, projectId, { change, at: new Date() });
    const hand = postgres(database.url, { max: 2, onnotice: () => {} });
    let removing: Promise<boolean> | undefined;
    await hand.begin(async (held) => {
      await held`select 1 from projects where id = ${projectId} for update`;
      removing = world.deployments.remove(organizationId, id);
      await eventually(
        () => hand`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        (rows) => rows.length > 0,
      );
      await held`delete from projects where id = ${projectId}`;
    });
    expect(await removing).toBe(false);
    await hand.end();
  });
});
