import { posix } from "node:path";
import { TarReader } from "../../../domain/archive/tar_reader.ts";
import { type Failure, invalid, notFound } from "../../../domain/failure.ts";
import { createContainer, listContainers, removeContainer } from "../engine/containers.ts";
import { ignoreRefusal, isRefusal } from "../engine/refusals.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { LABELS } from "./image_names.ts";

const PURPOSE = { label: "slipway.purpose", value: "archive" } as const;
const NAME = "slipway-archive-";
/** Age of a container that a process left behind when it ended; no read takes this long. */
const LEFT_AFTER_MS = 6 * 3_600_000;
/** How many bytes of folders to search for a first file. */
const SEARCHED_BYTES = 1_024 * 1_024;

type Reader = ReadableStreamDefaultReader<Uint8Array>;

interface Reading {
  /** Reads the next chunk; rejects with an `engine_away` failure when it does not arrive. */
  readonly next: Reader["read"];
  /** Closes the connection and removes the container. */
  readonly end: () => Promise<void>;
}

/** Reads files from images through containers that are created and removed but never started. */
export class ImageArchive {
  readonly #engine: EngineApi;
  readonly #installation: string;

  constructor({ engine, installation }: { readonly engine: EngineApi; readonly installation: string }) {
    this.#engine = engine;
    this.#installation = installation;
  }

  /** Returns the folder at an absolute path as a tar stream; the container is removed before the stream ends. */
  async open(image: string, path: string): Promise<ReadableStream<Uint8Array>> {
    const folder = posix.normalize(path).replace(/\/+$/, "");
    if (!folder.startsWith("/")) throw outputMissing(path);
    const container = await this.#container(image);
    let reader: Reader | undefined;
    const read: Reading = {
      next: () => this.#engine.inTime(reader!.read()),
      end: async () => {
        await reader?.cancel().catch(() => {});
        await this.#remove(container);
      },
    };
    try {
      reader = await this.#reader(container, folder);
      const first = await firstFile(read);
      if (first === undefined) throw outputMissing(path);
      return rest(read, first);
    } catch (error) {
      await read.end();
      throw error;
    }
  }

  /** Removes containers of processes that ended while reading. */
  async removeLeftovers(): Promise<void> {
    const label = [`${LABELS.installation}=${this.#installation}`, `${PURPOSE.label}=${PURPOSE.value}`];
    for (const { Id, Names, Created } of await listContainers(this.#engine, { label })) {
      const isOld = Date.now() - Created * 1_000 > LEFT_AFTER_MS;
      if (isOld && Names.some((name) => name.startsWith(`/${NAME}`))) await this.#remove(Id);
    }
  }

  async #container(image: string): Promise<string> {
    const labels = { [LABELS.installation]: this.#installation, [PURPOSE.label]: PURPOSE.value };
    // Never started, so the command does not matter; an image may have none of its own.
    const json = { Image: image, Cmd: ["slipway"], Labels: labels, HostConfig: { NetworkMode: "none" } };
    return createContainer(this.#engine, `${NAME}${crypto.randomUUID()}`, json).catch((error: unknown) => {
      throw isRefusal(error, 404) ? notFound("image") : error;
    });
  }

  async #reader(container: string, folder: string): Promise<Reader> {
    try {
      // The trailing slash resolves a symlink to a folder.
      const query = { path: `${folder}/` };
      const answer = await this.#engine.request("GET", `/containers/${container}/archive`, { query });
      if (answer.body) return answer.body.getReader() as Reader;
    } catch (error) {
      if (!(error instanceof EngineRefusal)) throw error;
      if (error.status >= 500 && !/not a directory/.test(error.message)) throw error;
    }
    throw outputMissing(folder);
  }

  async #remove(container: string): Promise<void> {
    await removeContainer(this.#engine, container).catch(ignoreRefusal);
  }
}

/**
 * Reads up to and including the first entry that is not a folder, or 1 MiB, and returns the chunks; `undefined` if
 * there is no such entry.
 */
async function firstFile({ next }: Reading): Promise<Uint8Array[] | undefined> {
  const tar = new TarReader();
  const read: Uint8Array[] = [];
  for (let bytes = 0; bytes < SEARCHED_BYTES;) {
    const { done, value } = await next();
    if (done) return undefined;
    read.push(value);
    bytes += value.length;
    for (const part of tar.read(value)) if (part.type === "entry" && part.kind !== "folder") return read;
  }
  return read;
}

function rest({ next, end }: Reading, first: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const waiting = [...first];
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = waiting.shift();
        if (piece !== undefined) return controller.enqueue(piece);
        try {
          const { done, value } = await next();
          if (!done) return controller.enqueue(value);
        } catch (error) {
          await end().catch(() => {});
          throw error;
        }
        await end();
        controller.close();
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

function outputMissing(path: string): Failure {
  return invalid("output_missing", `Cannot take ${path} out of the image: there are no files. Check outputDirectory`);
}
