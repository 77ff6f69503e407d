import { preflightS3, preflightSftp } from "./preflight.ts";
import { putS3, putSftp } from "./put_storage.ts";
import { realS3, realSshd } from "./real_stores.ts";
import type { Line } from "./run.ts";

/** The benchmarks of buckets, all on one server. */
export async function* storesOnS3(): AsyncGenerator<Line> {
  await using s3 = await realS3();
  yield { name: "preflight-s3", ...(await preflightS3(s3)) };
  yield { name: "put-s3", ...(await putS3(s3)) };
}

/** The benchmarks of SFTP servers, all on one server. */
export async function* storesOnSftp(): AsyncGenerator<Line> {
  await using sshd = await realSshd();
  yield { name: "preflight-sftp", ...(await preflightSftp(sshd)) };
  yield { name: "put-sftp", ...(await putSftp(sshd)) };
}
