import { describe, expect, test } from "bun:test";
import postgres from "postgres";
import { SignalledCache } from "../../adapters/postgres/signalled_cache.ts";
import { Secret } from "../../domain/secret.ts";
import { migratedDatabase, openStores, vaultOf } from "../support/database/postgres_stores.ts";
import { aMember, anOrganization, START } from "../support/database/store_builders.ts";

/** Stores that count their statements, a second process's stores, and a connection to change rows directly. */
async function cachingStores() {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await migratedDatabase());
  const statements: string[] = [];
  const vault = await vaultOf();
  const world = opened.use(await openStores({ url, vault, onStatement: (text) => statements.push(text) }));
  const other = opened.use(await openStores({ url, vault }));
  const hand = postgres(url, { max: 1, onnotice: () => {} });
  opened.defer(() => hand.end());
  const { id: organizationId } = await anOrganization(world);
  const userId = await aMember(world, organizationId);
  const link = { organizationId, url: "https://cloud.example.com", updatedAt: START };
  const held = opened.move();
  return {
    world,
    other,
    hand,
    link,
    userId,
    /** What a read returns, and how many statements it needs. */
    async read<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
      statements.length = 0;
      return [await work(), statements.length];
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

describe("what is cached while nothing changes", () => {
  test("is a link to the cloud, also that there is none, until any process changes it", async () => {
    await using stores = await cachingStores();
    const { world, other, hand, link } = stores;
    const address = () =>
      stores.read(async () => {
        const found = await world.cloudLinks.address(link.organizationId);
        return found && `${found.url} ${found.token.reveal()}`;
      });
    await address();
    expect(await address()).toEqual([undefined, 0]);
    await other.cloudLinks.put(link, new Secret("first"));
    expect(await address()).toEqual(["https://cloud.example.com first", 1]);
    expect(await address()).toEqual(["https://cloud.example.com first", 0]);
    await hand`update cloud_links set url = 'https://other.example.com'`;
    await world.signals.settled();
    expect((await address())[0]).toBe("https://other.example.com first");
    await other.cloudLinks.remove(link.organizationId);
    expect(await address()).toEqual([undefined, 1]);
    await other.cloudLinks.put(link, new Secret("second"));
    await hand`truncate cloud_links`;
    await world.signals.settled();
    expect(await address()).toEqual([undefined, 1]);
  });

  test("is a user, until any process changes it", async () => {
    await using stores = await cachingStores();
    const { world, other, userId } = stores;
    const name = () => stores.read(async () => (await world.users.find(userId))?.name);
    const [before] = await name();
    expect(await name()).toEqual([before, 0]);
    await other.users.change(userId, { name: "Grace" });
    expect(await name()).toEqual(["Grace", 1]);
    await world.users.change(userId, { name: "Ada" });
    expect(await name()).toEqual(["Ada", 1]);
    await other.users.setPasswordHash(userId, "hash");
    expect(await name()).toEqual(["Ada", 1]);
  });
});

/** Signals that a test gives itself. */
class ManualSignals {
  live = true;
  readonly #handlers: ((id: string) => unknown)[] = [];

  subscribe(_: string, handler: (id: string) => unknown) {
    this.#handlers.push(handler);
    return () => {};
  }

  onReset(handler: () => unknown) {
    return this.subscribe("", (id) => (id === "reset" ? handler() : undefined));
  }

  tell(id: string): void {
    for (const handler of this.#handlers) handler(id);
  }
}

describe("SignalledCache", () => {
  test("does not keep what was read while it changed, or while changes are not told", async () => {
    const signals = new ManualSignals();
    const cache = new SignalledCache<number>(signals, "channel");
    const read = (value: number, meanwhile?: string) =>
      cache.get("a", async () => {
        if (meanwhile) signals.tell(meanwhile);
        return value;
      });
    expect(await read(1, "a")).toBe(1);
    expect(await read(2, "reset")).toBe(2);
    expect(await read(3)).toBe(3);
    expect(await read(4)).toBe(3);
    signals.live = false;
    expect(await read(5)).toBe(5);
    signals.live = true;
    signals.tell("*");
    expect(await read(6)).toBe(6);
  });

  test("forgets the oldest beyond its limit", async () => {
    const cache = new SignalledCache<string>(new ManualSignals(), "channel", { max: 2 });
    for (const id of ["a", "b", "c"]) await cache.get(id, async () => id);
    expect(await cache.get("c", async () => "again")).toBe("c");
    expect(await cache.get("a", async () => "again")).toBe("again");
  });
});
