import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answers, atHand, deploy, deployingServer, inTurns } from "./deploying.ts";
import { ROOT } from "./process.ts";
import type { Result } from "./run.ts";

const MODULES = 4_000;
/** Fewer, because ten builds at once take ten times as long. */
const MODULES_OF_MANY = 2_000;
const AT_ONCE = 10;

/** The app to deploy, and its commands. */
interface App {
  readonly localPath: string;
  readonly buildCommand?: string;
  readonly startCommand: string;
}

/**
 * From the request to the first 200 through the edge, compared with the same commands by hand, alternately: an app of
 * many modules that is built, also ten concurrently, and a minimal app that starts at once, which shows the overhead
 * alone.
 */
export async function deployProcess(): Promise<Result> {
  await using server = await deployingServer("process");
  const pair = (app: App, what: string) => ({
    slipway: async (name: string) => {
      await flushed();
      return deploy(server, { ...app, name: `${what}-${name}` });
    },
    bare: async (name: string) => {
      await flushed();
      return byHand(app, join(server.folder, `${what}-${name}`));
    },
  });
  const small = await inTurns(
    pair({ localPath: join(ROOT, "examples/bun-server"), startCommand: "bun run start" }, "small"),
  );
  const built = pair(await appOfModules(join(server.folder, "modules"), MODULES), "built");
  const large = await inTurns(built);
  const ten = pair(await appOfModules(join(server.folder, "fewer"), MODULES_OF_MANY), "ten");
  const many = { slipway: await atOnce(ten.slipway), bare: await atOnce(ten.bare) };
  return {
    ratio: large.ratio,
    details:
      `slipway ${large.slipway} ms, by hand ${large.bare} ms, ${MODULES} modules built, ${large.spread}, at most 1.15; ` +
      `ten of ${MODULES_OF_MANY} modules at once: ${(many.slipway / many.bare).toFixed(2)}, slipway ${Math.round(many.slipway)} ms, by hand ${Math.round(many.bare)} ms; ` +
      `nothing to build: slipway ${small.slipway} ms, by hand ${small.bare} ms`,
  };
}

/** Writes to the disk what the side before has left in memory, which the next one would wait for. */
async function flushed(): Promise<void> {
  await Bun.spawn(["sync", "-f", tmpdir()]).exited;
}

/** Writes an app with a non-trivial build. */
async function appOfModules(localPath: string, modules: number): Promise<App> {
  const parts = Array.from({ length: modules }, (_, index) => index);
  const body = Array.from({ length: 60 }, (_, line) => `  total += Math.imul(seed ^ ${line}, ${line * 7 + 1}) % 1009;`);
  for (const index of parts) {
    const text = `export function part${index}(seed: number): number {\n  let total = 0;\n${body.join("\n")}\n  return total;\n}\n`;
    await Bun.write(join(localPath, `parts/part_${index}.ts`), text);
  }
  const imports = parts.map((index) => `import { part${index} } from "./parts/part_${index}.ts";\n`).join("");
  const sum = parts.map((index) => `part${index}(${index})`).join(",");
  const serve = "Bun.serve({ port: Number(process.env.PORT), fetch: () => new Response(String(sum)) });\n";
  await Bun.write(join(localPath, "app.ts"), `${imports}const sum = Math.max(${sum});\n${serve}`);
  return {
    localPath,
    buildCommand: "bun build app.ts --minify --sourcemap=linked --target=bun --outdir=out",
    startCommand: "bun out/app.js",
  };
}

/** The milliseconds until all of several concurrent deployments respond. */
async function atOnce(work: (name: string) => Promise<number>): Promise<number> {
  const times = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => work(`many-${index}`)));
  return Math.max(...times);
}

/** The plain commands: copy the folder, build, start, and poll until it responds. */
async function byHand({ localPath, buildCommand, startCommand }: App, folder: string): Promise<number> {
  const started = performance.now();
  await cp(localPath, folder, { recursive: true });
  if (buildCommand) await atHand(folder, buildCommand).ended;
  await using app = atHand(folder, startCommand);
  await answers(app.port, `127.0.0.1:${app.port}`);
  return performance.now() - started;
}
