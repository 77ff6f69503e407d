import { LineSplitter } from "../../../domain/deployments/line_splitter.ts";
import { plainStep } from "../../../domain/image/plain_step.ts";
import type { FailedStep } from "./build_failure.ts";
import type { LogLine } from "./build_log.ts";
import type { BuildMessage } from "./build_messages.ts";
import type { BuildReader } from "./running_build.ts";

const STEP = /^Step (\d+\/\d+) : (.*)$/s;
const RUNNING = /^ ---> Running in ([0-9a-f]+)\n?$/;
const CACHED = /^ ---> Using cache\n?$/;
/** Messages of the builder about its own work. */
const UNTOLD =
  /^( ---> \n?| ---> [0-9a-f]+\n?|( ---> )?(Removing|Removed) intermediate container [0-9a-f]+\n?|Successfully (built|tagged) .*)$/s;
/** The builder marks the stderr of commands by coloring it. */
const STDERR = "\u001b[91m";
const STDERR_END = "\u001b[0m";

const encoder = new TextEncoder();

/**
 * Turns messages of the classic builder into log lines: the name of each step, its output, and whether it was cached.
 */
export class ClassicLog implements BuildReader {
  readonly #splitters = { stdout: new LineSplitter(), stderr: new LineSplitter() };
  #step = "";
  /** Whether the last message named a step. */
  #isNamed = false;
  #container: string | undefined;
  #failed: FailedStep | undefined;
  #image: string | undefined;

  get image(): string | undefined {
    return this.#image;
  }

  get failed(): FailedStep | undefined {
    return this.#failed;
  }

  /** The container of the last command. */
  get container(): string | undefined {
    return this.#container;
  }

  read(message: BuildMessage): readonly LogLine[] {
    const { stream, aux, errorDetail } = message;
    const id = (aux as { readonly ID?: unknown } | undefined)?.ID;
    if (typeof id === "string") this.#image = id;
    if (errorDetail && this.#step !== "") this.#failed = { name: this.#step, error: errorDetail.message ?? "" };
    return stream === undefined ? pulled(message) : this.#stream(stream);
  }

  flush(): readonly LogLine[] {
    return (["stdout", "stderr"] as const).flatMap((stream) =>
      this.#splitters[stream].flush().map((text) => ({ text, stream })),
    );
  }

  #stream(text: string): readonly LogLine[] {
    const isAfterName = this.#isNamed;
    const step = STEP.exec(text);
    this.#isNamed = step !== null;
    if (step) {
      this.#step = plainStep(`[${step[1]}] ${step[2]!.replaceAll(/\s+/g, " ").trim()}`);
      return [...this.flush(), { text: this.#step, stream: "stdout" }];
    }
    const running = RUNNING.exec(text);
    if (running) this.#container = running[1];
    // The newline after a step's name is a message of its own.
    if (running || UNTOLD.test(text) || (isAfterName && text === "\n")) return [];
    if (CACHED.test(text)) return [{ text: `${/^\[[^\]]*\]/.exec(this.#step)?.[0] ?? ""} CACHED`, stream: "stdout" }];
    const stream = text.startsWith(STDERR) ? "stderr" : "stdout";
    const printed = stream === "stdout" ? text : text.slice(STDERR.length).replace(STDERR_END, "");
    return this.#splitters[stream].push(encoder.encode(printed)).map((line) => ({ text: line, stream }));
  }
}

/** Returns the messages about a pulled image, without the progress of each layer. */
function pulled({ status, id, progressDetail }: BuildMessage): readonly LogLine[] {
  if (status === undefined || progressDetail?.current !== undefined) return [];
  return [{ text: id === undefined ? status : `${id}: ${status}`, stream: "stdout" }];
}
