import { TAR_END, tarHead, tarPadding } from "../../../domain/archive/tar_writer.ts";
import type { ServiceFile } from "../../../domain/services/service_spec.ts";

/** Small files as one tar, with their owners and rights; the folders above them are left to whoever unpacks it. */
export function tarArchive(files: readonly ServiceFile[]): Uint8Array {
  const pieces = files.flatMap(({ target, content, mode, uid, gid }) => {
    const bytes = new TextEncoder().encode(content);
    const name = target.replace(/^\/+/, "");
    const head = tarHead({ name, kind: "file", size: bytes.length, mode, modifiedMs: Date.now(), uid, gid });
    return [head, bytes, tarPadding(bytes.length)];
  });
  return new Uint8Array(Buffer.concat([...pieces, TAR_END]));
}
