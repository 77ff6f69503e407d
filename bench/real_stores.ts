import { type S3Server, s3Server } from "../tests/support/peers/s3_server.ts";
import { type SshdContainer, startSshd } from "../tests/support/peers/sshd_container.ts";

/** An in-memory folder of the SSH server, so that the disk is not measured. */
export const FAST_FOLDER = "/srv/fast";

/** A real S3 server. Disposal removes it. */
export async function realS3(): Promise<S3Server> {
  return s3Server();
}

/** A real SSH server with an in-memory folder. Disposal removes it. */
export async function realSshd(): Promise<SshdContainer & AsyncDisposable> {
  return startSshd({ tmpfs: { [FAST_FOLDER]: "size=6g,mode=1777" } });
}
