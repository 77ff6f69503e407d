import { memoryWorld } from "../adapters/memory/memory_world.ts";
import { S3ObjectStorages } from "../adapters/s3/object_storages.ts";
import { SftpObjectStorages } from "../adapters/ssh/sftp/object_storages.ts";
import { runProbe } from "../application/backup/run_probe.ts";
import type { ObjectStorages, StorageTarget } from "../ports/object_storages.ts";
import { bareBucketProbe } from "./bare_bucket_probe.ts";
import { bareSftpProbe } from "./bare_sftp_probe.ts";
import { FAST_FOLDER, realCeph, realSshd } from "./real_stores.ts";
import type { Result } from "./run.ts";
import { median } from "./temp_folder.ts";

const ROUNDS = 25;

/** A preflight of a bucket, whole, against the same requests made with the bare SDK. */
export async function preflightS3(): Promise<Result> {
  await using ceph = await realCeph();
  const target = await ceph.bucket();
  return await compare(new S3ObjectStorages() as ObjectStorages, target, () => bareBucketProbe(target));
}

/** A preflight of an SFTP server, from connecting to hanging up, against the same requests made with bare ssh2. */
export async function preflightSftp(): Promise<Result> {
  await using sshd = await realSshd();
  const target = { kind: "remote_folder", remote: sshd.bob, folder: FAST_FOLDER } as const;
  return await compare(new SftpObjectStorages() as ObjectStorages, target, () => bareSftpProbe(target));
}

async function compare(
  objectStorages: ObjectStorages,
  target: StorageTarget,
  bare: () => Promise<void>,
): Promise<Result> {
  const probe = runProbe({ ...memoryWorld(), objectStorages });
  const whole = async () => {
    const { outcome } = await probe({ target: async () => target, pathPrefix: null, leftProbes: [] });
    if (!outcome.ok) throw new Error(outcome.reason);
  };
  for (let round = 0; round < 3; round++) await Promise.all([whole(), bare()]);
  const times: { whole: number; bare: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push({ whole: await timeOf(whole), bare: await timeOf(bare) });
  const [slow, quick] = [median(times.map((time) => time.whole)), median(times.map((time) => time.bare))];
  return { ratio: slow / quick, details: `slipway ${slow.toFixed(1)} ms, bare ${quick.toFixed(1)} ms, at most 1.3` };
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
