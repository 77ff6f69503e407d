import { expect, test } from "bun:test";
import { memoryWorld } from "../../../adapters/memory/memory_world.ts";
import { prepareSource } from "../../../application/deployments/prepare_source.ts";
import type { Principal } from "../../../domain/identity/permission.ts";
import { eventually } from "../../support/eventually.ts";
import type { Sources } from "../../../ports/projects/sources.ts";

const OWNER: Principal = {
  userId: "usr_1",
  organizationId: "org_1",
  role: "owner",
  grants: [],
  founder: true,
  credential: { kind: "token", id: "tok_1" },
  narrowing: null,
  expiresAt: null,
};

/** Never fetches anything; rejects with the reason of its abort signal, as every source does. */
const silent: Sources = {
  async fetch(_, { signal }) {
    signal.throwIfAborted();
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    return promise;
  },
};

function scene(prepareLimitMs: number) {
  const world = { ...memoryWorld(), sources: silent };
  const localSources = { mode: "self-hosted", roots: [], dataFolder: "/data/slipway" } as const;
  const settings = {
    localSources,
    githostUrl: "https://git.example.com",
    mode: "self-hosted",
    runtimePreset: "process",
    prepareLimitMs,
  } as const;
  const prepare = prepareSource({ ...world, ...settings });
  return { world, prepare };
}

test("a source that does not arrive in time fails as unreachable remote, and leaves nothing", async () => {
  const { world, prepare } = scene(1_000);
  const request = { source: "githost", owner: "acme", repo: "shop" } as const;
  const failure = await prepare(OWNER, request, new AbortController().signal).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    kind: "remote_failed",
    code: "source_timeout",
    message:
      "Cannot read the repository: it was not fetched within 1 s. Check that the git host answers, then try again",
  });
  expect(await Array.fromAsync(world.releaseFolders.list())).toEqual([]);
});

test("a caller that disconnects ends the fetch with the reason of the caller's signal", async () => {
  const { world, prepare } = scene(60_000);
  const leaving = new AbortController();
  const request = { source: "githost", owner: "acme", repo: "shop" } as const;
  const prepared = prepare(OWNER, request, leaving.signal).catch((error: unknown) => error);
  leaving.abort(new Error("gone"));
  expect(await prepared).toBe(leaving.signal.reason);
  expect(await Array.fromAsync(world.releaseFolders.list())).toEqual([]);
});

test("fetches no more than eight sources at once", async () => {
  let fetching = 0;
  const world = { ...memoryWorld(), sources: { fetch: () => (fetching++, new Promise<never>(() => {})) } };
  const settings = { mode: "self-hosted", githostUrl: "https://git.example.com", runtimePreset: "process" } as const;
  const localSources = { mode: "self-hosted", roots: [], dataFolder: "/data/slipway" } as const;
  const many = prepareSource({ ...world, ...settings, localSources, prepareLimitMs: 60_000 });
  const leaving = new AbortController();
  const request = { source: "githost", owner: "acme", repo: "shop" } as const;
  const requests = Array.from({ length: 20 }, () => many(OWNER, request, leaving.signal).catch(() => "ended"));
  await eventually(
    async () => fetching,
    (count) => count >= 8,
  );
  // The others would have started by now.
  await Bun.sleep(20);
  expect(fetching).toBe(8);
  leaving.abort(new Error("gone"));
  expect((await Promise.race(requests)) as unknown).toBe("ended");
});
