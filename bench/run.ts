import { boot } from "./boot.ts";
import { edge } from "./edge.ts";
import { edgeTls } from "./edge_tls.ts";
import { firstDeployment } from "./first_deployment.ts";
import { FORWARD, forward } from "./forward.ts";
import { reposList, reposListAgain } from "./git_host.ts";
import { idleMemory } from "./idle_memory.ts";
import { contextUpload } from "./context_upload.ts";
import { compose } from "./compose.ts";
import { deployDocker } from "./deploy_docker.ts";
import { deployServer } from "./deploy_server.ts";
import { deployProcess } from "./deploy_process.ts";
import { detect } from "./detect.ts";
import { logIngest } from "./log_ingest.ts";
import { storesOnS3, storesOnSftp } from "./stores.ts";
import { READS, reads } from "./reads.ts";
import { scan100 } from "./scan_server.ts";
import { webhook } from "./webhook.ts";
import { runApart } from "./run_apart.ts";
import { streamFanout } from "./stream_fanout.ts";
import { baseImage } from "../tests/support/runner/base_image.ts";
import { dockerEngine } from "../tests/support/runner/docker_engine.ts";
import { useDockerProgram } from "../tests/support/runner/docker_program.ts";

/** The result of a benchmark: the ratio to the baseline of the same run, and details. */
export interface Result {
  readonly ratio: number;
  readonly details: string;
}

/** A result with the name of its benchmark, printed as one line. */
export interface Line extends Result {
  readonly name: string;
}

/** Benchmarks that run together, in a separate process. */
interface Group {
  readonly names: readonly string[];
  run(): AsyncIterable<Line>;
  /** Whether its files may be in memory: the disk is no part of what it measures, and takes long to fill. */
  readonly inMemory?: true;
  /** Whether it needs a Docker Engine with the base image. */
  readonly inDocker?: true;
}

const GROUPS: readonly Group[] = [
  { names: READS, run: reads, inMemory: true },
  { names: ["boot", "idle-memory"], run: () => each({ boot, "idle-memory": idleMemory }) },
  {
    names: ["first-deployment", "deploy-process"],
    run: () => each({ "first-deployment": firstDeployment, "deploy-process": deployProcess }),
    inMemory: true,
  },
  {
    names: ["log-ingest", "stream-fanout"],
    run: () => each({ "log-ingest": logIngest, "stream-fanout": streamFanout }),
  },
  { names: FORWARD, run: forward, inMemory: true },
  { names: ["edge"], run: () => each({ edge }) },
  { names: ["edge-tls"], run: () => each({ "edge-tls": edgeTls }) },
  { names: ["detect"], run: () => each({ detect }), inMemory: true },
  {
    names: ["repos-list", "repos-list-again"],
    run: () => each({ "repos-list": reposList, "repos-list-again": reposListAgain }),
  },
  { names: ["webhook"], run: () => each({ webhook }) },
  // Those that need Docker are last, so that no engine runs beside the others.
  { names: ["deploy-docker"], run: () => each({ "deploy-docker": deployDocker }), inDocker: true },
  { names: ["deploy-server"], run: () => each({ "deploy-server": deployServer }), inDocker: true },
  { names: ["compose-noop", "compose-deploy"], run: compose, inDocker: true },
  { names: ["context-upload"], run: () => each({ "context-upload": contextUpload }), inDocker: true },
  { names: ["preflight-s3", "put-s3"], run: storesOnS3, inDocker: true },
  { names: ["preflight-sftp", "put-sftp"], run: storesOnSftp, inDocker: true },
  { names: ["scan-100"], run: () => each({ "scan-100": scan100 }), inDocker: true },
];

async function* each(benchmarks: Readonly<Record<string, () => Promise<Result>>>): AsyncGenerator<Line> {
  for (const [name, benchmark] of Object.entries(benchmarks)) yield { name, ...(await benchmark()) };
}

/** Runs the group of this name in this process. */
async function runGroup(first: string): Promise<void> {
  for await (const { name, ratio, details } of GROUPS.find(({ names }) => names[0] === first)!.run())
    console.log(`${name} ${ratio.toFixed(2)} ${details}`);
}

async function main(words: readonly string[]): Promise<number> {
  const all = GROUPS.flatMap(({ names }) => names);
  const unknown = words.find((word) => !all.includes(word));
  if (unknown !== undefined) {
    console.error(`There is no benchmark "${unknown}"; there are ${all.join(", ")}`);
    return 2;
  }
  const wanted = (names: readonly string[]) => words.length === 0 || names.some((name) => words.includes(name));
  await useDockerProgram();
  await using engine = new AsyncDisposableStack();
  const startEngine = once(async () => {
    engine.use(await dockerEngine());
    await baseImage();
  });
  let failed = 0;
  for (const { names, inDocker, inMemory } of GROUPS.filter((group) => wanted(group.names))) {
    const why = inDocker && (await startEngine().catch((error: Error) => error.message));
    if (why) console.log(`${names.join(", ")} failed: ${why}`);
    if (why || !(await runApart(names, { inMemory }))) failed++;
  }
  return failed === 0 ? 0 : 1;
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => (done ??= work());
}

const [flag, first = ""] = process.argv.slice(2);
if (flag === "--group") await runGroup(first);
else process.exit(await main(process.argv.slice(2)));
