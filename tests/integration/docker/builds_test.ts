import { describe, expect, test } from "bun:test";
import { chmod, mkdir, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { buildContext } from "../../../adapters/docker/build/build_context.ts";
import { buildkitBuild } from "../../../adapters/docker/build/buildkit_build.ts";
import { ContentTimes } from "../../../adapters/docker/build/content_times.ts";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { DockerImageBuilder } from "../../../adapters/docker/build/image_builder.ts";
import { newId } from "../../../domain/id.ts";
import { Secret } from "../../../domain/secret.ts";
import { failureOf, imageRequest } from "../../contracts/image_builder.ts";
import { run } from "../../support/runner/command.ts";
import { BASE, dockerImages, type Tree, writtenTree } from "../../support/peers/docker_images.ts";
import { DOCKER_HOST } from "../../support/peers/docker_world.ts";
import { engineGate } from "../../support/faults/engine_gate.ts";
import { IGNORE_CASES, IGNORE_TREE } from "../../support/inputs/ignore_cases.ts";
import { randomInput } from "../../support/inputs/random_input.ts";
import { uniqueNumber } from "../../support/unique_number.ts";

const signal = new AbortController().signal;

/** Runs the Docker CLI and returns its output; throws if it fails. */
async function docker(...words: readonly string[]): Promise<string> {
  const { ok, output, lastLine } = await run(["docker", ...words], { environment: { DOCKER_BUILDKIT: "1" } });
  if (!ok) throw new Error(`docker ${words.join(" ")}: ${lastLine}`);
  return output.trim();
}

async function layersOf(image: string): Promise<string> {
  return docker("image", "inspect", "--format", "{{json .RootFS.Layers}}", image);
}

function sum(text: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

function sums(...contents: readonly (string | Uint8Array)[]): string[] {
  return contents.map(sum);
}

describe("the context of a build", () => {
  test("matches that of Docker's own program, for all kinds of rules", async () => {
    // The table was made from Docker's results; checking a part of it shows that they are still the same.
    const waiting = IGNORE_CASES.filter((_, index) => index % 3 === 1);
    const compare = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const [name, rules, expected] = next;
        const tree = { ...Object.fromEntries(IGNORE_TREE.map((path) => [path, path])), ".dockerignore": rules };
        const folder = await writtenTree({ ...tree, Dockerfile: "FROM scratch\nCOPY . /\n" });
        await docker("build", "--quiet", "--output", `${folder}-out`, folder);
        const theirs = (await run(["find", `${folder}-out`, "-type", "f", "-printf", "%P\\n"])).output.split("\n");
        const { entries } = await buildContext({ folder, dockerfile: { path: "Dockerfile" }, signal });
        const ours = entries.filter(({ kind }) => kind === "file").map(({ path }) => path);
        await Promise.all([folder, `${folder}-out`].map((path) => rm(path, { recursive: true, force: true })));
        expect([name, theirs.filter((path) => path !== "").sort()]).toEqual([name, expected.toSorted()]);
        expect([name, ours.toSorted()]).toEqual([name, expected.toSorted()]);
      }
    };
    await Promise.all([compare(), compare(), compare(), compare()]);
  });

  test("arrives byte for byte as from Docker's own program, with modes, times and links", async () => {
    await using world = await dockerImages();
    const names = [
      "a b",
      "ä",
      "\u{1F600}",
      "q'uote",
      "new\nline",
      "n".repeat(255),
      `${"deep/".repeat(30)}end`,
      "-dash",
    ];
    const tree: Tree = {
      ...Object.fromEntries(names.map((name) => [name, name])),
      ".dockerignore": "ignored\n!ignored/but\nDockerfile\n",
      Dockerfile: "FROM scratch\nCOPY . /\n",
      "ignored/but": "kept",
      "ignored/file": "left",
      empty: "",
      big: new Uint8Array(1_000_000).fill(7),
      link: { link: "a b" },
      "dir/link": { link: "../deep" },
      dangling: { link: "nowhere" },
    };
    const folder = await world.folder(tree);
    await mkdir(join(folder, "nothing-in-it"));
    await Promise.all([
      chmod(join(folder, "a b"), 0o4755),
      chmod(join(folder, "dir"), 0o1777),
      chmod(join(folder, "ä"), 0o400),
    ]);
    await utimes(join(folder, "big"), 1, 1_234_567_890.123);
    const ours = await world.builder.build(imageRequest({ folder, dockerfile: { path: "Dockerfile" } }));
    const theirs = await docker("build", "--quiet", folder);
    expect(await layersOf(ours.image)).toBe(await layersOf(theirs));
    if (theirs !== ours.image) await docker("rmi", theirs);
  });

  test("arrives complete with the classic builder too, except for the generated Dockerfile", async () => {
    await using world = await dockerImages({ builder: "classic" });
    const folder = await world.folder({
      "dir/a": "a",
      "dir/link": { link: "a" },
      ".dockerignore": "b",
      b: "b",
      Dockerfile: "x",
    });
    const text = `FROM ${BASE}\nCOPY . /given\nRUN cd /given && find . | sort && readlink dir/link && cat dir/a\n`;
    const request = imageRequest({ folder, dockerfile: { text } });
    await world.builder.build(request);
    const from = request.lines.findIndex((line) => line === ".");
    expect(request.lines.slice(from, from + 8)).toEqual([
      ".",
      "./.dockerignore",
      "./Dockerfile",
      "./dir",
      "./dir/a",
      "./dir/link",
      "a",
      "a",
    ]);
  });

  test("is only what changed since the previous build, even from another folder, and only what is copied", async () => {
    await using world = await dockerImages();
    const big = randomInput("a large file of a build").bytes(60_000);
    const build = async (tree: Tree, copied: string) => {
      const text = `FROM ${BASE}\nCOPY ${copied} /given/\nRUN cd /given; find . -type f | sort | xargs sha256sum\n`;
      const request = imageRequest(
        { folder: await world.folder(tree), dockerfile: { text } },
        { projectId: "prj_same" },
      );
      await world.builder.build(request);
      const line = request.lines.find((each) => each.startsWith("transferring context:"));
      const [, number, unit] = / ([\d.]+) (\w+)$/.exec(line ?? " 0 B")!;
      const files = request.lines.flatMap((each) => /^([0-9a-f]{64}) /.exec(each)?.[1] ?? []);
      return { bytes: Number(number) * { B: 1, kB: 1_000, MB: 1_000_000 }[unit as "B"], files };
    };
    const first = await build({ big, "dir/small": "1" }, ".");
    expect(first.files).toEqual(sums(big, "1"));
    expect(first.bytes).toBeGreaterThan(60_000);
    const second = await build({ big, "dir/small": "2" }, ".");
    expect(second.files).toEqual(sums(big, "2"));
    expect(second.bytes).toBeLessThan(1_000);
    const changed = big.with(59_999, big[59_999]! ^ 1);
    expect((await build({ big: changed, "dir/small": "2" }, ".")).files).toEqual(sums(changed, "2"));
    expect((await build({ big, "dir/small": "3" }, ".")).files).toEqual(sums(big, "3"));
    expect((await build({ big: new Uint8Array(70_000), "dir/small": "4" }, "dir")).bytes).toBeLessThan(1_000);
  });

  test("may contain paths with commas and letters of any kind", async () => {
    await using world = await dockerImages();
    const names = Array.from({ length: 12 }, (_, index) => `file, number ${index} ä`);
    const folder = await world.folder(Object.fromEntries([...names, "other"].map((name) => [name, name])));
    const text = `FROM ${BASE}\nCOPY ${JSON.stringify([...names, "/given/"])}\nRUN ls /given | wc -l; : ${crypto.randomUUID()}\n`;
    const request = imageRequest({ folder, dockerfile: { text } });
    await world.builder.build(request);
    expect(request.lines).toContain("12");
  });

  test("ends the build with a clear failure when a file changes during it", async () => {
    await using world = await dockerImages();
    const folder = await world.folder({ "src/a.js": "1", "src/b.js": "2" });
    const request = imageRequest({ folder, dockerfile: { text: "FROM scratch\nCOPY . /\n" } });
    const context = await buildContext(request);
    await Bun.write(join(folder, "src/b.js"), "22");
    const engine = new EngineApi(DOCKER_HOST);
    const error = await failureOf(
      buildkitBuild({
        engine,
        request,
        context,
        query: {},
        contextKey: crypto.randomUUID(),
        times: new ContentTimes().of(""),
      }),
    );
    expect([error.kind, error.code]).toEqual(["invalid", "context_changed"]);
    expect(error.message).toContain('"src/b.js" changed');
  });
});

describe("secrets", () => {
  const value = `canary-${crypto.randomUUID()} 'quoted' "$HOME" \\n \`id\` ä\nsecond line`;
  const other = `canary-${crypto.randomUUID()}`;
  const forms = [value, other].flatMap((text) => [
    text,
    text.split("\n")[0]!,
    text.slice(0, 43),
    Buffer.from(text).toString("base64").replace(/=+$/, ""),
    encodeURIComponent(text),
  ]);
  const secrets = new Map([
    ["TOKEN", new Secret(value)],
    ["OTHER", new Secret(other)],
    ["not a name; echo broken-out", new Secret(other)],
  ]);

  test("reach the commands that mount them, and nothing else", async () => {
    await using world = await dockerImages();
    const folder = await world.folder({});
    const text = [
      `FROM ${BASE}`,
      `ENV FRESH=${crypto.randomUUID()}`,
      "RUN --mount=type=secret,id=TOKEN sha256sum /run/secrets/TOKEN",
      "RUN --mount=type=secret,id=OTHER,target=/o sha256sum /o; env",
      'RUN --mount=type=secret,id=slipway_env . /run/secrets/slipway_env; printf %s "$TOKEN" | sha256sum; printf %s "$OTHER" | sha256sum',
      "RUN --mount=type=secret,id=ABSENT ls /run/secrets; find / -xdev -name 'TOKEN*' -o -xdev -name 'slipway_env*'",
      `RUN cat /proc/self/mountinfo /proc/self/environ | tr '\\0' '\\n'`,
    ].join("\n");
    const request = imageRequest({ folder, dockerfile: { text } }, { secrets });
    const { image } = await world.builder.build(request);
    const printed = request.lines.flatMap((line) => /^([0-9a-f]{64}) /.exec(line)?.[1] ?? []);
    expect(printed).toEqual([sum(value), sum(other), sum(value), sum(other)]);
    const seen = [
      request.lines.join("\n"),
      await docker("history", "--no-trunc", image),
      await docker("image", "inspect", image),
      Buffer.from(await Bun.$`docker save ${image}`.arrayBuffer()).toString("latin1"),
    ];
    expect(seen.every((place) => place.length > 500)).toBe(true);
    const found = forms.filter((form) => seen.some((place) => place.includes(Buffer.from(form).toString("latin1"))));
    expect(found).toEqual([]);
    expect(request.lines.join("\n")).not.toContain("broken-out");
  });

  test("that are required and absent fail the build", async () => {
    await using world = await dockerImages();
    const text = `FROM ${BASE}\nRUN --mount=type=secret,id=ABSENT,required=true true\n`;
    const error = await failureOf(
      world.builder.build(imageRequest({ folder: await world.folder({}), dockerfile: { text } }, { secrets })),
    );
    expect(error.message).toMatch(/^Cannot build: step \[.*2\/2\] RUN .* failed: .*ABSENT.*not found/);
  });

  test("are not passed to the classic builder", async () => {
    await using world = await dockerImages({ builder: "classic" });
    const request = imageRequest(
      { folder: await world.folder({}), dockerfile: { text: `FROM ${BASE}\nRUN env\n` } },
      { secrets },
    );
    const { image } = await world.builder.build(request);
    const seen = [request.lines.join("\n"), await docker("image", "inspect", image)].join("\n");
    expect(forms.filter((form) => seen.includes(form))).toEqual([]);
  });
});

describe("a build", () => {
  test("accepts arguments and stops at its target", async () => {
    await using world = await dockerImages();
    const text = `FROM ${BASE} AS first\nARG COLOUR=none\nRUN echo "is $COLOUR"; : ${crypto.randomUUID()}\nFROM first AS second\nRUN echo unwanted\n`;
    const args = new Map([["COLOUR", "blue & green"]]);
    const request = imageRequest({ folder: await world.folder({}), dockerfile: { text } }, { args, target: "first" });
    await world.builder.build(request);
    expect(request.lines).toContain("is blue & green");
    expect(request.lines.join("\n")).not.toContain("unwanted");
    const error = await failureOf(world.builder.build({ ...request, target: "third" }));
    expect(error.code).toBe("build_failed");
    expect(error.message).toMatch(/^Cannot build: target stage "?third"? could not be found$/);
  });

  test("finds in cache mounts only what builds with the same cache key left there", async () => {
    await using world = await dockerImages();
    const [mark, projectId] = [crypto.randomUUID(), newId("prj")];
    const look = async (cacheKey: string | undefined, args: readonly (readonly [string, string])[] = []) => {
      const see = `ls /kept; touch /kept/${cacheKey ?? "own"}; : ${crypto.randomUUID()}`;
      const text = `FROM ${BASE}\nRUN --mount=type=cache,id=${mark},target=/kept ${see}\n`;
      const made = imageRequest({ folder: await world.folder({}), dockerfile: { text } }, { args: new Map(args) });
      const request = { ...made, projectId, ...(cacheKey !== undefined && { cacheKey }) };
      await world.builder.build(request);
      return ["own", "fork"].filter((name) => made.lines.includes(name));
    };
    expect(await look(undefined)).toEqual([]);
    expect(await look("fork")).toEqual([]);
    expect(await look("fork", [["BUILDKIT_CACHE_MOUNT_NS", ""]])).toEqual(["fork"]);
    expect(await look(undefined)).toEqual(["own"]);
  });

  test("finds no layer that was made with the secrets of builds with another cache key", async () => {
    await using world = await dockerImages();
    const projectId = newId("prj");
    const text = [
      `FROM ${BASE}`,
      `ENV FRESH=${crypto.randomUUID()}`,
      "RUN --mount=type=secret,id=TOKEN cat /run/secrets/TOKEN > /baked",
      "RUN cat /baked",
    ].join("\n");
    const baked = async (cacheKey: string | undefined, token: string) => {
      const secrets = new Map([["TOKEN", new Secret(token)]]);
      const made = imageRequest({ folder: await world.folder({}), dockerfile: { text } }, { secrets });
      const { image } = await world.builder.build({ ...made, projectId, ...(cacheKey !== undefined && { cacheKey }) });
      return docker("run", "--rm", image, "cat", "/baked");
    };
    expect(await baked(undefined, "of production")).toBe("of production");
    expect(await baked("previews", "of previews")).toBe("of previews");
    expect(await baked("fork", "of the fork")).toBe("of the fork");
    // Cached as before.
    expect(await baked(undefined, "changed since")).toBe("of production");
  });

  test("is labelled and named by its project and deployment", async () => {
    await using world = await dockerImages();
    const ids = { projectId: "prj_0abc", deploymentId: "dep_0abc" };
    const image = await world.make(ids);
    expect(JSON.parse(await docker("image", "inspect", "--format", "{{json .}}", image))).toMatchObject({
      RepoTags: [expect.stringMatching(/^slipway\/prj_0abc-[0-9a-f]{32}:dep_0abc$/)],
      Config: {
        Labels: {
          "slipway.installation": world.installation,
          "slipway.project": ids.projectId,
          "slipway.deployment": ids.deploymentId,
        },
      },
    });
    expect(await world.images.find(ids.deploymentId, "app")).toMatchObject({ ...ids, image });
  });

  test.each(["buildkit", "classic"] as const)("that is aborted no longer runs when it rejects: %s", async (builder) => {
    await using world = await dockerImages({ builder });
    const marker = `${uniqueNumber()}`;
    const running = async () => (await run(["pgrep", "-f", `sleep ${marker}`])).output.trim();
    const text = `FROM ${BASE}\nRUN trap '' TERM; (sleep ${marker}) & echo begun; sleep ${marker}\n`;
    const stop = new AbortController();
    const seen: string[] = [];
    const log = async (line: string) => {
      if (line !== "begun") return;
      seen.push(await running());
      stop.abort(new Error("enough"));
    };
    const source = { folder: await world.folder({}), dockerfile: { text } };
    await failureOf(world.builder.build(imageRequest(source, { signal: stop.signal, log })));
    expect(seen[0]).not.toBe("");
    expect(await running()).toBe("");
  });

  test("that is aborted while it receives its files ends at once", async () => {
    await using world = await dockerImages();
    const folder = await world.folder({ big: new Uint8Array(20_000_000) });
    const stop = new AbortController();
    const log = (line: string) => line === "[internal] load build context" && stop.abort(new Error("enough"));
    const text = "FROM scratch\nCOPY big /\n";
    const request = imageRequest(
      { folder, dockerfile: { text } },
      { signal: stop.signal, log: (line) => void log(line) },
    );
    expect((await failureOf(world.builder.build(request))).message).toBe("enough");
    expect(await world.images.find(request.deploymentId, "app")).toBeUndefined();
  });

  test("whose output cannot be recorded ends with the reason for that", async () => {
    await using world = await dockerImages();
    const reason = new Error("no room");
    const text = `FROM ${BASE}\nRUN echo ${crypto.randomUUID()}; sleep 1000\n`;
    const log = async (line: string) => {
      if (line.startsWith("[2/2]")) throw reason;
    };
    const request = imageRequest({ folder: await world.folder({}), dockerfile: { text } }, { log });
    expect(await world.builder.build(request).catch((error: unknown) => error)).toBe(reason);
  });

  test("respects its limits with the classic builder", async () => {
    await using world = await dockerImages({ builder: "classic", limits: { memoryBytes: 64 * 1_024 ** 2, cpus: 0.5 } });
    const files =
      "/sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us";
    const text = `FROM ${BASE}\nRUN cat ${files}; : ${crypto.randomUUID()}\n`;
    const request = imageRequest({ folder: await world.folder({}), dockerfile: { text } });
    await world.builder.build(request).catch(() => {});
    expect(request.lines).toContain("67108864");
    expect(request.lines.join("\n")).toMatch(/^50000( 100000)?$/m);
  });

  test("runs in parallel with others", async () => {
    await using world = await dockerImages();
    const built = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        const folder = await world.folder({ file: `content ${index}` });
        const text = `FROM ${BASE}\nCOPY file /\nRUN cat /file; : ${crypto.randomUUID()}\n`;
        const request = imageRequest({ folder, dockerfile: { text } }, { projectId: "prj_same" });
        await world.builder.build(request);
        return request.lines.filter((line) => line.startsWith("content"));
      }),
    );
    expect(built).toEqual([["content 0"], ["content 1"], ["content 2"], ["content 3"]]);
  });

  test.each(["buildkit", "classic"] as const)(
    "works over TCP, and reports when the engine becomes unavailable: %s",
    async (builder) => {
      using gate = await engineGate();
      await using world = await dockerImages();
      const engine = new EngineApi(gate.host);
      const far = new DockerImageBuilder({ engine, installation: world.installation, builder });
      const folder = await world.folder({ file: "content" });
      const text = `FROM ${BASE}\nCOPY file /\nRUN cat /file; echo; : ${crypto.randomUUID()}\n`;
      const request = imageRequest({ folder, dockerfile: { text } });
      await far.build(request);
      expect(request.lines).toContain("content");
      const log = (line: string) => {
        if (line === "begun") gate.cut();
      };
      const endless = `${text}RUN echo begun; sleep 1000\n`;
      const error = await failureOf(far.build(imageRequest({ folder, dockerfile: { text: endless } }, { log })));
      expect([error.kind, error.code]).toEqual(["unavailable", "engine_away"]);
    },
  );
});
