import { toolchainImage } from "../peers/toolchain_image.ts";
import { managedImage } from "../peers/managed_image.ts";
import { tinyImage } from "../peers/docker_world.ts";
import { sharedS3Server } from "../peers/s3_server.ts";

/** What can be prepared in a lane before its tests start. */
export const PROVISIONS = ["tiny", "toolchains", "s3", "managed"] as const;
export type Provision = (typeof PROVISIONS)[number];

/**
 * Runs as a program in a lane. Prepares what its arguments name, prints the tests' environment variables as one line of
 * JSON, and keeps the servers running until its standard input ends.
 */
async function main(wanted: ReadonlySet<string>): Promise<void> {
  await using servers = new AsyncDisposableStack();
  const [, , s3] = await Promise.all([
    wanted.has("tiny") && tinyImage("tiny").then(() => tinyImage("furnished")),
    wanted.has("toolchains") && toolchainImage(),
    wanted.has("s3") && sharedS3Server().then((server) => servers.use(server)),
    wanted.has("managed") && managedImage(),
  ]);
  process.stdout.write(`${JSON.stringify(s3 ? s3.environment : {})}\n`);
  for await (const _ of Bun.stdin.stream());
}

if (import.meta.main) {
  await main(new Set(process.argv.slice(2)));
  process.exit(0);
}
