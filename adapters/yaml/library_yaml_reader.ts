import type { YamlReader, YamlReading } from "../../ports/projects/yaml_reader.ts";

const MAX_LENGTH = 131_072;
/**
 * Shorter texts are parsed synchronously: the worst one takes tens of milliseconds, about as long as starting a worker.
 */
const AT_ONCE = 8_192;
const LIMIT_MS = 5_000;

/** Parses YAML with the `yaml` library, long texts in a worker, so that a hostile one does not block the event loop. */
export class LibraryYamlReader implements YamlReader {
  readonly #limitMs: number;

  /** `limitMs` is the timeout for a long text. Defaults to 5 s. */
  constructor({ limitMs = LIMIT_MS }: { readonly limitMs?: number } = {}) {
    this.#limitMs = limitMs;
  }

  async read(text: string): Promise<YamlReading> {
    if (text.length > MAX_LENGTH) {
      return problem(`Cannot read this: it is longer than ${MAX_LENGTH} characters. Split it up`);
    }
    if (text.length > AT_ONCE) return readApart(text, this.#limitMs);
    // Loaded late, because few projects have such files.
    const { readYaml } = await import("./read_yaml.ts");
    return readYaml(text);
  }
}

function problem(message: string): YamlReading {
  return { problem: { line: 1, message } };
}

async function readApart(text: string, limitMs: number): Promise<YamlReading> {
  const worker = new Worker(new URL("./yaml_worker.ts", import.meta.url).href);
  const { promise, resolve } = Promise.withResolvers<YamlReading>();
  const timer = setTimeout(() => resolve(problem("Cannot read this: it takes too long. Simplify it")), limitMs);
  worker.addEventListener("message", ({ data }: MessageEvent<YamlReading>) => resolve(data));
  worker.addEventListener("error", () => resolve(problem("Cannot read this: it is too complex. Simplify it")));
  try {
    worker.postMessage(text, []);
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}
