import { Client, type SFTPWrapper } from "ssh2";
import type { RemoteFolderTarget } from "../ports/backups/object_storages.ts";

const PROBE_BYTES = 16 * 1024;

type Done<T> = (error: Error | null | undefined, value: T) => void;

/**
 * The requests of a preflight with plain ssh2: connect, write and rename, read, compare, delete, stat, and list the
 * leftovers of others.
 */
export async function bareSftpProbe({ remote, folder }: RemoteFolderTarget): Promise<void> {
  const client = new Client();
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  client.on("ready", resolve).on("error", reject);
  const { host, port, user, privateKey } = remote;
  client.connect({ host, port, username: user, privateKey: privateKey!.reveal() });
  await ready;
  const sftp = await called<SFTPWrapper>((done) => client.sftp(done));
  const path = `${folder}/bare-${crypto.randomUUID()}`;
  const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(PROBE_BYTES)));
  const written = await called<Buffer>((done) => sftp.open(`${path}.part`, "wx", 0o600, done));
  await called<void>((done) => sftp.write(written, bytes, 0, bytes.length, 0, done as never));
  await called<unknown>((done) => sftp.ext_openssh_fsync(written, done as never));
  await called<void>((done) => sftp.close(written, done as never));
  await called<void>((done) => sftp.ext_openssh_rename(`${path}.part`, path, done as never));
  const opened = await called<Buffer>((done) => sftp.open(path, "r", done));
  await called((done) => sftp.fstat(opened, done));
  const back = Buffer.alloc(PROBE_BYTES);
  await called<number>((done) => sftp.read(opened, back, 0, back.length, 0, (error, count) => done(error, count)));
  if (back.compare(bytes) !== 0) throw new Error("It came back changed");
  await called<void>((done) => sftp.close(opened, done as never));
  await called<void>((done) => sftp.unlink(path, done as never));
  const gone = await called((done) => sftp.lstat(path, done)).catch((error: { code?: number }) => error.code);
  if (gone !== 2) throw new Error("It is still there");
  await Promise.all([0, 1, 2].map(() => called((done) => sftp.readdir(folder, done))));
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  client.on("close", close).end();
  await closed;
}

function called<T>(call: (done: Done<T>) => void): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  call((error, value) => (error ? reject(error) : resolve(value)));
  return promise;
}
