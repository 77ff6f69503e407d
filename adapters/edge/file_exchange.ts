import type { EdgeRoute } from "../../ports/domains/edge.ts";
import { byteRange } from "./byte_range.ts";
import type { ClientConnection } from "./client_connection.ts";
import { BROKEN_FILE, NOT_FOUND, WRONG_METHOD } from "./error_page.ts";
import type { Exchange } from "./exchange.ts";
import { allFields, fieldValue } from "./header_fields.ts";
import { reasonPhrase } from "./reason_phrase.ts";
import type { RequestHead } from "./request_head.ts";
import type { RunningRequests } from "./running_requests.ts";
import { openStatic, type StaticFile } from "./static_file.ts";

/** A request for a file of a static site. */
export interface FileRequest {
  readonly client: ClientConnection;
  readonly head: RequestHead;
  readonly route: EdgeRoute;
  readonly folder: string;
  readonly running: RunningRequests;
}

/** The part of a file to send, with its response status and extra headers. */
interface Answer {
  readonly status: number;
  readonly start: number;
  readonly length: number;
  readonly extra: string;
}

const PIECE_BYTES = 131_072;

/** Responds to one request with a file of a folder. */
export class FileExchange implements Exchange {
  readonly #request: FileRequest;
  #gone = false;
  #begun = false;
  #ready: (() => void) | undefined;

  constructor(request: FileRequest) {
    this.#request = request;
  }

  async run(): Promise<void> {
    const { client, head, route, folder, running } = this.#request;
    client.begin(this);
    if (head.method !== "GET" && head.method !== "HEAD") return client.answer(WRONG_METHOD);
    running.begin(route.servedBy);
    try {
      await using file = await openStatic(folder, head.path.slice(route.pathPrefix.replace(/\/+$/, "").length));
      if (this.#gone) return;
      if (file) await this.#send(file);
      else client.answer(NOT_FOUND);
    } catch {
      if (this.#begun) client.abort();
      else if (!this.#gone) client.answer(BROKEN_FILE);
    } finally {
      running.end(route.servedBy);
    }
  }

  requestBytes(): void {}

  clientReady(): void {
    this.#ready?.();
  }

  clientGone(): void {
    this.#gone = true;
    this.#ready?.();
  }

  expired(): void {}

  async #send(file: StaticFile): Promise<void> {
    const { client, head } = this.#request;
    const { status, start, length, extra } = answerFor(file, head);
    const { keepAlive, field } = client.connectionField(true);
    const text =
      `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n${extra}${client.hsts}` +
      (status === 304 ? "" : `Content-Type: ${file.type}\r\nContent-Length: ${length}\r\n`) +
      (file.status === 404
        ? "Cache-Control: no-store\r\n"
        : `Cache-Control: public, max-age=0, must-revalidate\r\nETag: ${file.tag}\r\nLast-Modified: ${file.changed.toUTCString()}\r\nAccept-Ranges: bytes\r\n`) +
      (field === undefined ? "\r\n" : `Connection: ${field}\r\n\r\n`);
    client.answering();
    this.#begun = true;
    if (head.method === "HEAD" || status === 304) client.send(Buffer.from(text));
    else await this.#sendPieces(file, text, { start, length });
    if (!this.#gone) client.finish({ keepAlive });
  }

  /** Reads a chunk only after the previous one was sent, so that a slow client costs one chunk of memory. */
  async #sendPieces(file: StaticFile, head: string, part: { start: number; length: number }): Promise<void> {
    const { client } = this.#request;
    const headBytes = Buffer.from(head);
    const piece = Buffer.allocUnsafe(headBytes.length + Math.min(part.length, PIECE_BYTES));
    let filled = headBytes.copy(piece);
    let sent = 0;
    do {
      const wanted = Math.min(piece.length - filled, part.length - sent);
      const { bytesRead } = await file.handle.read(piece, filled, wanted, part.start + sent);
      if (this.#gone) return;
      if (bytesRead === 0 && wanted > 0) throw new Error("the file became shorter");
      sent += bytesRead;
      if (!client.send(piece.subarray(0, filled + bytesRead))) await this.#taken();
      if (this.#gone) return;
      filled = 0;
    } while (sent < part.length);
  }

  async #taken(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ready = resolve;
    await promise;
    this.#ready = undefined;
  }
}

function answerFor(file: StaticFile, { lines }: RequestHead): Answer {
  const fields = allFields(lines);
  const whole = { status: file.status, start: 0, length: file.size, extra: "" };
  if (file.status === 404) return whole;
  if (isFresh(file, fieldValue(fields, "if-none-match"), fieldValue(fields, "if-modified-since")))
    return { status: 304, start: 0, length: 0, extra: "" };
  const condition = fieldValue(fields, "if-range");
  if (condition !== undefined && condition !== file.tag && condition !== file.changed.toUTCString()) return whole;
  const range = byteRange(fieldValue(fields, "range"), file.size);
  if (range === undefined) return whole;
  if (range === "unsatisfiable")
    return { status: 416, start: 0, length: 0, extra: `Content-Range: bytes */${file.size}\r\n` };
  const extra = `Content-Range: bytes ${range.start}-${range.end}/${file.size}\r\n`;
  return { status: 206, start: range.start, length: range.end - range.start + 1, extra };
}

/** A date matches only if it equals the file's exactly, because a rollback restores older files. */
function isFresh(file: StaticFile, tags: string | undefined, date: string | undefined): boolean {
  if (tags === undefined) return date === file.changed.toUTCString();
  return tags
    .split(",")
    .map((tag) => tag.trim().replace(/^W\//, ""))
    .some((tag) => tag === "*" || tag === file.tag);
}
