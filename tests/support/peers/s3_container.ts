import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { GenericContainer } from "testcontainers";
import { run } from "../runner/command.ts";
import { TEST_LABEL } from "../runner/test_leftovers.ts";

/** The address of a server and the credentials of its administrator. */
export interface S3ServerAddress {
  /** `http://host:port`. */
  readonly url: string;
  readonly key: string;
  readonly secret: string;
}

const CONTEXT = new URL("../../images/ceph", import.meta.url).pathname;
/** Long, because a busy machine needs it. A container that has exited is noticed at once. */
const READY_WITHIN = 300_000;
const LOG_LINES = 30;

/** Starts an S3 server in a container; resolves once it responds. Disposal removes the container. */
export async function startS3Container(): Promise<S3ServerAddress & AsyncDisposable> {
  const image = await builtImage();
  await using undo = new AsyncDisposableStack();
  const name = `slipway-s3-${randomBytes(6).toString("hex")}`;
  // A separate network: on the shared bridge, where containers come and go, packets can get lost for seconds.
  await docker("network", "create", "--label", `${TEST_LABEL}=1`, name);
  undo.defer(async () => void (await run(["docker", "network", "rm", name])));
  const [key, secret] = [newKey(), newKey()];
  const environment = [`S3_KEY=${key}`, `S3_SECRET=${secret}`].flatMap((value) => ["--env", value]);
  const where = ["--network", name, "--publish", "127.0.0.1::9000", "--label", `${TEST_LABEL}=1`];
  undo.defer(async () => void (await run(["docker", "rm", "--force", "--volumes", name])));
  await docker("run", "--detach", "--name", name, ...where, ...environment, image);
  const [address] = (await docker("port", name, "9000/tcp")).split("\n");
  const url = `http://${address}`;
  await answering(url, name);
  const lifetime = undo.move();
  return { url, key, secret, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

/** The server's image, tagged with the hash of its sources. */
async function builtImage(): Promise<string> {
  const files = await Promise.all(
    ["Dockerfile", "bin/start-ceph"].map((name) => readFile(join(CONTEXT, name), "utf8")),
  );
  const content = new Bun.CryptoHasher("sha256").update(files.join("\0")).digest("hex").slice(0, 12);
  const image = `slipway-test-ceph:${content}`;
  if ((await run(["docker", "image", "inspect", image])).ok) return image;
  process.env["TESTCONTAINERS_RYUK_DISABLED"] = "true";
  await GenericContainer.fromDockerfile(CONTEXT).build(image, { deleteOnExit: false });
  return image;
}

/** A recognizable key, so that tests can find leaks of it. */
export function newKey(): string {
  return `canary${randomBytes(12).toString("hex")}`;
}

/** Waits until the server responds. Throws with the end of its log if it exits before or the timeout expires. */
async function answering(url: string, container: string): Promise<void> {
  for (const end = Date.now() + READY_WITHIN; ; await Bun.sleep(200)) {
    if (await answers(url)) return;
    const state = await run(["docker", "inspect", "--format", "{{.State.Status}}", container]);
    const runs = state.ok && state.output.trim() === "running";
    if (runs && Date.now() < end) continue;
    const why = runs ? `it did not answer within ${READY_WITHIN / 1_000} s` : `its container is ${state.lastLine}`;
    throw new Error(`Cannot start the S3 server: ${why}. The end of its log:\n${await logOf(container)}`);
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).status === 200;
  } catch {
    return false;
  }
}

async function logOf(container: string): Promise<string> {
  const child = Bun.spawn(["docker", "logs", "--tail", String(LOG_LINES), container], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return `${output}${errors}`.trim() || "(nothing)";
}

async function docker(...words: readonly string[]): Promise<string> {
  const { ok, output, lastLine } = await run(["docker", ...words]);
  if (!ok) throw new Error(`Cannot start the S3 server: docker ${words[0]} failed: ${lastLine}`);
  return output.trim();
}
