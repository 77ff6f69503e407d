import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { Upload } from "@aws-sdk/lib-storage";
import SftpClient from "ssh2-sftp-client";
import { S3ObjectStorages } from "../adapters/s3/object_storages.ts";
import { SftpObjectStorages } from "../adapters/ssh/sftp/object_storages.ts";
import type { ObjectStorage } from "../ports/backups/object_storage.ts";
import type { S3Server } from "../tests/support/peers/s3_server.ts";
import type { SshdContainer } from "../tests/support/peers/sshd_container.ts";
import { FAST_FOLDER } from "./real_stores.ts";
import { inRounds } from "./rounds.ts";
import type { Result } from "./run.ts";
import { median, tempFolder } from "./temp_folder.ts";

const MIB = 1024 * 1024;
const SIZE = 128 * MIB;
/** The size whose memory is compared with that of ten times as much. */
const SMALL = 32 * MIB;
const ROUNDS = 3;

/**
 * Bytes per second of a stream into a bucket, compared with the SDK's own upload of the same parts; also the memory use
 * of ten times the size.
 */
export async function putS3(s3: S3Server): Promise<Result> {
  const target = await s3.bucket();
  await using storage = await new S3ObjectStorages().open(target);
  const client = await s3.client(target);
  const bare = async () => {
    const params = { Bucket: target.bucket, Key: "bare", Body: Readable.fromWeb(stream(SIZE) as never) };
    await new Upload({ client, params, partSize: 8 * MIB, queueSize: 4 }).done();
  };
  return await compare(storage, bare);
}

/** Bytes a second of a stream onto an SFTP server, against OpenSSH's own `sftp` with a file, and beside `ssh2-sftp-client`. */
export async function putSftp(sshd: SshdContainer): Promise<Result> {
  await using folder = await tempFolder();
  const [key, file] = [join(folder.path, "key"), join(folder.path, "file")];
  await writeFile(key, sshd.bob.privateKey!.reveal());
  await chmod(key, 0o600);
  await Bun.write(file, new Response(stream(SIZE)));
  await using storage = await new SftpObjectStorages().open({
    kind: "remote_folder",
    remote: sshd.bob,
    folder: FAST_FOLDER,
  });
  const { host, port, user } = sshd.bob;
  const trust = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"];
  const bare = async () => {
    const command = ["sftp", "-q", ...trust, "-i", key, "-P", String(port), "-b", "-", `${user}@${host}`];
    const put = `put ${file} ${FAST_FOLDER}/bare\n`;
    const program = Bun.spawn(command, { stdin: new Blob([put]), stdout: "ignore", stderr: "inherit" });
    if ((await program.exited) !== 0) throw new Error("sftp failed");
  };
  const library = new SftpClient();
  await library.connect({ host, port, username: user, privateKey: sshd.bob.privateKey!.reveal() });
  const byLibrary = async () => void (await library.put(Readable.fromWeb(stream(SIZE) as never), `${FAST_FOLDER}/lib`));
  await byLibrary();
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) rates.push(await rate(SIZE, byLibrary));
  await library.delete(`${FAST_FOLDER}/lib`);
  await library.end();
  const { ratio, details } = await compare(storage, bare);
  return { ratio, details: `${details}; ssh2-sftp-client ${megabytes(median(rates))}/s` };
}

async function compare(storage: ObjectStorage, bare: () => Promise<void>): Promise<Result> {
  const put = async (bytes: number) => void (await storage.put("slipway", stream(bytes)));
  const { ratio, ours, other, spread } = await inRounds(ROUNDS, {
    ours: () => rate(SIZE, () => put(SIZE)),
    other: () => rate(SIZE, bare),
  });
  await storage.remove("bare");
  const once = await peakDuring(() => put(SMALL));
  const tenfold = await peakDuring(() => put(10 * SMALL));
  await storage.remove("slipway");
  return {
    ratio,
    details:
      `slipway ${megabytes(ours)}/s, bare ${megabytes(other)}/s, ${megabytes(SIZE)}, ${spread}, at least 0.8; ` +
      `memory at most ${megabytes(once)} for ${megabytes(SMALL)}, with 10 × the size ${megabytes(tenfold)}`,
  };
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

/** A stream of bytes, generated on demand. */
function stream(bytes: number): ReadableStream<Uint8Array> {
  const noise = new Uint8Array(MIB);
  for (let at = 0; at < MIB; at += 65_536) crypto.getRandomValues(noise.subarray(at, at + 65_536));
  let left = bytes;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (left === 0) return controller.close();
        left -= MIB;
        controller.enqueue(noise.slice());
      },
    },
    { highWaterMark: 0 },
  );
}

async function rate(bytes: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return bytes / ((performance.now() - started) / 1_000);
}

/** The peak memory (RSS) of this process during some work. */
async function peakDuring(work: () => Promise<void>): Promise<number> {
  Bun.gc(true);
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
  await work();
  clearInterval(timer);
  return most;
}
