import type { YamlReader, YamlReading } from "../../ports/projects/yaml_reader.ts";
import { readYaml } from "./read_yaml.ts";

const MAX_LENGTH = 131_072;
/** What is no longer is read at once: the worst text of this length takes some tens of milliseconds, about as long as a worker takes to start. */
const AT_ONCE = 8_192;
const LIMIT_MS = 5_000;

/** Reads YAML with the library `yaml`; long texts apart from the process's own thread, so that nothing waits for a hostile one. */
export class LibraryYamlReader implements YamlReader {
  readonly #limitMs: number;

  /** Gives up a long text after `limitMs`. Defaults to 5 s. */
  constructor({ limitMs = LIMIT_MS }: { readonly limitMs?: number } = {}) {
    this.#limitMs = limitMs;
  }

  async read(text: string): Promise<YamlReading> {
    if (text.length > MAX_LENGTH) {
      return problem(`Cannot read this: it is longer than ${MAX_LENGTH} characters. Split it up`);
    }
    return text.length <= AT_ONCE ? readYaml(text) : readApart(text, this.#limitMs);
  }
}

function problem(message: string): YamlReading {
  return { problem: { line: 1, message } };
}

async function readApart(text: string, limitMs: number): Promise<YamlReading> {
  const worker = new Worker(new URL("./yaml_worker.ts", import.meta.url).href);
  const { promise, resolve } = Promise.withResolvers<YamlReading>();
  const timer = setTimeout(() => resolve(problem("Cannot read this: it takes too long. Write it simpler")), limitMs);
  worker.addEventListener("message", ({ data }: MessageEvent<YamlReading>) => resolve(data));
  worker.addEventListener("error", () => resolve(problem("Cannot read this: it takes too much. Write it simpler")));
  try {
    worker.postMessage(text, []);
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}
