import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { EngineApi } from "../adapters/docker/engine/engine_api.ts";
import { DockerImageBuilder } from "../adapters/docker/build/image_builder.ts";
import { DockerReleaseImages } from "../adapters/docker/images/release_images.ts";
import { newId } from "../domain/id.ts";
import type { Result } from "./run.ts";
import { median, tempFolder } from "./temp_folder.ts";

const ROUNDS = 3;
/** 200 MB in total. */
const SMALL = { count: 1_000, bytes: 100_000 };
const LARGE = { count: 10, bytes: 10_000_000 };
/** Needs all files of the context, but exports next to nothing. */
const DOCKERFILE = "FROM scratch AS all\nCOPY . /all/\nFROM scratch\nCOPY --from=all /all/changing /\n";
const DOCKER_HOST = process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock";

/** The duration of a build with nothing cached, and of the next one with one file changed. */
interface Times {
  readonly cold: number;
  readonly warm: number;
}

/** A build with a context of 200 MB, compared with `docker build` of the same folder, alternately. */
export async function contextUpload(): Promise<Result> {
  await using folder = await tempFolder();
  const engine = new EngineApi(DOCKER_HOST);
  const known = new Set(await cacheOf(engine));
  await writeFiles(join(folder.path, "0"));
  const rounds: { readonly slipway: Times; readonly docker: Times }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // The engine identifies cached files by the folder's path or by the project: both are new.
    const source = join(folder.path, `${round + 1}`);
    await rename(join(folder.path, `${round}`), source);
    const ours = () => bySlipway(engine, source);
    const theirs = () => byDocker(source);
    if (round % 2 === 0) rounds.push({ slipway: await ours(), docker: await theirs() });
    else rounds.push({ docker: await theirs(), slipway: await ours() });
    for (const id of await cacheOf(engine)) if (!known.has(id)) await forget(engine, id);
  }
  const ratios = rounds.map(({ slipway, docker }) => slipway.cold / docker.cold);
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} in ${ROUNDS} rounds`;
  const middle = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick));
  return {
    ratio: median(ratios),
    details:
      `slipway ${Math.round(middle(({ slipway }) => slipway.cold))} ms, docker build ${Math.round(middle(({ docker }) => docker.cold))} ms, 200 MB, ${spread}, at most 1.2; ` +
      `one file changed: ${middle(({ slipway, docker }) => slipway.warm / docker.warm).toFixed(2)}, slipway ${Math.round(middle(({ slipway }) => slipway.warm))} ms`,
  };
}

async function writeFiles(folder: string): Promise<void> {
  for (const { count, bytes } of [SMALL, LARGE]) {
    for (let index = 0; index < count; index++) {
      const content = Buffer.allocUnsafe(bytes);
      for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(content.subarray(at, at + 65_536));
      await mkdir(join(folder, `${bytes}-${index % 20}`), { recursive: true });
      await Bun.write(join(folder, `${bytes}-${index % 20}`, `${index}`), content);
    }
  }
  await Bun.write(join(folder, "Dockerfile"), DOCKERFILE);
}

async function bySlipway(engine: EngineApi, folder: string): Promise<Times> {
  const installation = `bench-${crypto.randomUUID()}`;
  const builder = new DockerImageBuilder({ engine, installation });
  const images = new DockerReleaseImages({ engine, installation });
  const ids = { deploymentId: newId("dep"), projectId: newId("prj"), service: "app" };
  const given = {
    dockerfile: { path: "Dockerfile" },
    args: new Map<string, string>(),
    secrets: new Map<string, never>(),
  };
  const request = { ...ids, ...given, folder, signal: new AbortController().signal, log: () => {} };
  const times = await coldAndWarm(folder, () => builder.build(request));
  await images.remove(ids.deploymentId);
  return times;
}

async function byDocker(folder: string): Promise<Times> {
  const built = new Set<string>();
  const times = await coldAndWarm(folder, async () => built.add(await command("build", "--quiet", folder)));
  await command("rmi", ...built);
  return times;
}

async function coldAndWarm(folder: string, build: () => Promise<unknown>): Promise<Times> {
  const timed = async () => {
    await Bun.write(join(folder, "changing"), crypto.randomUUID());
    const started = performance.now();
    await build();
    return performance.now() - started;
  };
  return { cold: await timed(), warm: await timed() };
}

async function command(...words: readonly string[]): Promise<string> {
  const env = { ...process.env, DOCKER_BUILDKIT: "1" };
  const child = Bun.spawn(["docker", "--host", DOCKER_HOST, ...words], { env, stdout: "pipe", stderr: "pipe" });
  const [output, complaint, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`docker ${words.join(" ")}: ${complaint}`);
  return output.trim();
}

/** The build cache entries of exactly these files. Others may be building at the same time; their entries stay. */
async function cacheOf(engine: EngineApi): Promise<string[]> {
  const usage = await engine.json<{ BuildCache: { ID: string; Size: number }[] | null }>("GET", "/system/df");
  const bytes = SMALL.count * SMALL.bytes + LARGE.count * LARGE.bytes;
  return (usage.BuildCache ?? []).filter(({ Size }) => Size > bytes && Size < bytes + 1_000).map(({ ID }) => ID);
}

async function forget(engine: EngineApi, id: string): Promise<void> {
  const query = { all: true, filters: JSON.stringify({ id: [id] }) };
  await engine.json("POST", "/build/prune", { query }).catch(() => {});
}
