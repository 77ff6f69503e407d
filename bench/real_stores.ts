import { baseImage } from "../tests/support/base_image.ts";
import { type CephContainer, startCeph } from "../tests/support/ceph_container.ts";
import { dockerEngine } from "../tests/support/docker_engine.ts";
import { type SshdContainer, startSshd } from "../tests/support/sshd_container.ts";

/** Where the SSH server keeps what is written to it: in memory, so that no disk is measured. */
export const FAST_FOLDER = "/srv/fast";

/** A real S3 store; disposing removes it. */
export async function realCeph(): Promise<CephContainer & AsyncDisposable> {
  return within(startCeph);
}

/** A real SSH server with room in memory; disposing removes it. */
export async function realSshd(): Promise<SshdContainer & AsyncDisposable> {
  return within(() => startSshd({ tmpfs: { [FAST_FOLDER]: "size=6g,mode=1777" } }));
}

async function within<T extends AsyncDisposable>(start: () => Promise<T>): Promise<T> {
  await using opened = new AsyncDisposableStack();
  opened.use(await dockerEngine());
  await baseImage();
  const started = opened.use(await start());
  const lifetime = opened.move();
  return { ...started, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}
