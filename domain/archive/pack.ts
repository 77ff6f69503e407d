import { type PackedEntry, TAR_END, tarHead, tarPadding } from "./tar_writer.ts";

/** An entry of an archive, with `size` bytes of content. */
export interface PackedFile extends PackedEntry {
  readonly content?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Packs entries as a gzipped tar archive. Cancelling the stream ends the reading of the entries. */
export function packGzip(entries: AsyncIterable<PackedFile> | Iterable<PackedFile>): ReadableStream<Uint8Array> {
  const bytes = packed(entries);
  const archive = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const { done, value } = await bytes.next();
        if (done) controller.close();
        else controller.enqueue(value as Uint8Array<ArrayBuffer>);
      },
      async cancel() {
        await bytes.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return archive.pipeThrough(new CompressionStream("gzip"));
}

async function* packed(entries: AsyncIterable<PackedFile> | Iterable<PackedFile>): AsyncGenerator<Uint8Array> {
  for await (const entry of entries) {
    yield tarHead(entry);
    let bytes = 0;
    for await (const chunk of entry.content ?? []) {
      bytes += chunk.length;
      yield chunk;
    }
    if (bytes !== entry.size) throw new Error(`Cannot pack "${entry.name}": it has changed meanwhile`);
    yield tarPadding(bytes);
  }
  yield TAR_END;
}
