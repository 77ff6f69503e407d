import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ProcessBuilder } from "../../adapters/process/builder.ts";
import type { SandboxKind } from "../../adapters/process/sandbox.ts";
import { Secret } from "../../domain/secret.ts";
import { eventually } from "../support/eventually.ts";
import { builderOn, dataFolder, workingSandboxes } from "../support/apps/process_world.ts";
import { commandLineOf, processesWith, processIds } from "../support/processes_with.ts";
import { buildRequest } from "../contracts/builder.ts";
import { uniqueNumber } from "../support/unique_number.ts";

interface BuildWorld extends AsyncDisposable {
  readonly data: string;
  readonly folder: string;
  readonly builder: ProcessBuilder;
}

async function buildWorld(kind: SandboxKind): Promise<BuildWorld> {
  const data = await dataFolder(kind);
  const folder = join(data, "releases", "dep_1");
  await mkdir(folder, { recursive: true });
  return { data, folder, builder: builderOn(data, kind), [Symbol.asyncDispose]: () => rm(data, { recursive: true }) };
}

/** A unique number of seconds to sleep, to find the process by. */
function marker(): string {
  return `80000.${uniqueNumber()}1`;
}

/** A command that tries to outlive its build. */
function clinging(seconds: string): string {
  return `sleep ${seconds} & (setsid sh -c 'trap "" TERM; sleep ${seconds} & sleep ${seconds}' &)`;
}

for (const kind of await workingSandboxes()) {
  // Without root and without a sandbox, a command can read everything that its server can.
  if (kind !== "plain" || process.getuid?.() === 0) {
    test(`ProcessBuilder (${kind}): a command cannot read the data folder`, async () => {
      await using world = await buildWorld(kind);
      await writeFile(join(world.data, "secret.key"), "key", { mode: 0o600 });
      const request = buildRequest(world, [`cat ${world.data}/secret.key 2>/dev/null || echo refused`]);
      await world.builder.build(request);
      expect(request.lines).toEqual(["refused"]);
    });
  }

  describe(`ProcessBuilder (${kind})`, () => {
    test("build() passes a command the given environment, and only its own few variables in addition", async () => {
      await using world = await buildWorld(kind);
      const show = `bun -e 'console.log(JSON.stringify(process.env))'`;
      const request = buildRequest(world, [show, show], { environment: new Map([["A", new Secret("it's")]]) });
      await world.builder.build(request);
      const [install, build] = request.lines.map((line) => JSON.parse(line) as Record<string, string>);
      expect(Object.keys(install!).sort()).toEqual(["A", "CI", "HOME", "PATH", "PWD"]);
      expect(Object.keys(build!).sort()).toEqual(["A", "CI", "HOME", "NODE_ENV", "PATH", "PWD"]);
      expect(build).toMatchObject({ A: "it's", CI: "1", NODE_ENV: "production" });
    });

    test("build() shows no secret in the process list", async () => {
      await using world = await buildWorld(kind);
      const canary = `canary-${crypto.randomUUID()}`;
      const seen: string[] = [];
      const request = buildRequest(world, ["echo $A | rev; sleep 0.2"], {
        environment: new Map([["A", new Secret(canary)]]),
        log: (line) => {
          seen.push(line);
          expect(processIds().filter((pid) => commandLineOf(pid).includes(canary))).toEqual([]);
        },
      });
      await world.builder.build(request);
      expect(seen).toEqual([[...canary].toReversed().join("")]);
    });

    test("build() leaves nothing running, not even in the background, and nothing on the disk but the release", async () => {
      await using world = await buildWorld(kind);
      const seconds = marker();
      await world.builder.build(buildRequest(world, [`${clinging(seconds)}; echo made >made`]));
      expect(processesWith(seconds)).toEqual([]);
      expect(await readdir(world.folder)).toEqual(["made"]);
      expect((await readdir(join(world.data, "builds"))).filter((name) => !name.startsWith("."))).toEqual([]);
    });

    test("build() that is aborted first ends everything, stopped and stubborn processes too", async () => {
      await using world = await buildWorld(kind);
      const seconds = marker();
      const stop = new AbortController();
      const command = `trap '' TERM; ${clinging(seconds)}; sh -c 'kill -STOP $$; sleep ${seconds}' & echo ready; kill -STOP $$; sleep ${seconds}`;
      const request = buildRequest(world, [command], { signal: stop.signal, log: () => stop.abort() });
      expect(await world.builder.build(request).catch((error: Error) => error.name)).toBe("AbortError");
      expect(processesWith(seconds)).toEqual([]);
    });

    test("build() ends with its server, however that dies, and the next build cleans up what is left", async () => {
      await using world = await buildWorld(kind);
      const seconds = marker();
      const script = new URL("../support/apps/process_builder_owner.ts", import.meta.url).pathname;
      const command = [
        process.execPath,
        script,
        world.data,
        kind,
        world.folder,
        `${clinging(seconds)}; echo ready; sleep ${seconds}`,
      ];
      const owner = Bun.spawn(command, { stdio: ["ignore", "pipe", "inherit"] });
      await owner.stdout.getReader().read();
      owner.kill("SIGKILL");
      await owner.exited;
      await world.builder.build(buildRequest(world, ["true"]));
      expect(
        await eventually(
          async () => processesWith(seconds),
          ({ length }) => length === 0,
        ),
      ).toEqual([]);
      expect((await readdir(join(world.data, "builds"))).filter((name) => !name.startsWith("."))).toEqual([]);
    });

    test("build() does not wait for a server that is paused in the middle of another one, and leaves that alone", async () => {
      await using world = await buildWorld(kind);
      const seconds = marker();
      const script = new URL("../support/apps/process_builder_owner.ts", import.meta.url).pathname;
      const words = [script, world.data, kind, world.folder, `echo ready; exec sleep ${seconds}`];
      const owner = Bun.spawn([process.execPath, ...words], { stdio: ["ignore", "pipe", "inherit"] });
      await owner.stdout.getReader().read();
      owner.kill("SIGSTOP");
      await world.builder.build(buildRequest(world, ["true"]));
      expect(processesWith(seconds)).not.toEqual([]);
      const left = (await readdir(join(world.data, "builds"))).filter((name) => name.startsWith("build-"));
      expect(left).toHaveLength(1);
      owner.kill("SIGKILL");
      await owner.exited;
    });

    test("build() keeps the home of a cache key, separate from others, until it is trimmed", async () => {
      await using world = await buildWorld(kind);
      const write = buildRequest(world, ["echo kept >~/kept; head -c 1000000 /dev/zero >~/large"], {
        cacheKey: "prj_1",
      });
      await world.builder.build(write);
      for (const [cacheKey, lines] of [
        ["prj_1", ["kept"]],
        ["prj_2", []],
        [undefined, []],
        ["../prj_1", []],
      ] as const) {
        const request = buildRequest(
          world,
          ["cat ~/kept 2>/dev/null || true"],
          cacheKey === undefined ? {} : { cacheKey },
        );
        await world.builder.build(request);
        expect([cacheKey, request.lines]).toEqual([cacheKey, [...lines]]);
      }
      await world.builder.trimCaches(100_000_000);
      expect(existsSync(join(world.data, "cache/prj_1/kept"))).toBe(true);
      await world.builder.trimCaches(500_000);
      expect(existsSync(join(world.data, "cache/prj_1"))).toBe(false);
    });

    test("build() of the same key at the same time skips the cache rather than wait", async () => {
      await using world = await buildWorld(kind);
      const other = join(world.data, "releases", "dep_2");
      await mkdir(other);
      const stop = new AbortController();
      const inside = Promise.withResolvers<void>();
      const command = "echo first >~/name; echo ready; sleep 600";
      const waiting = buildRequest(world, [command], {
        cacheKey: "prj_1",
        signal: stop.signal,
        log: () => inside.resolve(),
      });
      const first = world.builder.build(waiting).catch((error: Error) => error.name);
      await inside.promise;
      const request = buildRequest({ folder: other }, ["cat ~/name 2>/dev/null || echo none"], { cacheKey: "prj_1" });
      await world.builder.build(request);
      expect(request.lines).toEqual(["none"]);
      stop.abort();
      expect(await first).toBe("AbortError");
    });

    test("build() passes on one line of 50 MB in pieces, and an unfinished line at the end", async () => {
      await using world = await buildWorld(kind);
      let characters = 0;
      let longest = 0;
      const log = (line: string) => {
        characters += line.length;
        longest = Math.max(longest, line.length);
      };
      const command = "head -c 50000000 /dev/zero | tr '\\0' x; printf '\\nend'";
      await world.builder.build(buildRequest(world, [command], { log }));
      expect(characters).toBe(50_000_003);
      expect(longest).toBeLessThanOrEqual(16_384);
    });
  });
}
