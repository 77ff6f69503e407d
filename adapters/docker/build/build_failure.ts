import { type Failure, invalid } from "../../../domain/failure.ts";

/** The step that failed a build. */
export interface FailedStep {
  readonly name: string;
  readonly error: string;
}

const SHOWN_CHARACTERS = 300;
/** Prefixes that the engine puts before the reason, one for each of its layers. */
const PREFIX =
  /^(failed to solve( with frontend [\w.]+)?|failed to (create|build|read) (LLB definition|LLB|dockerfile)|rpc error: code = \w+ desc =|failed to compute cache key|error from sender|failed to load cache key):? ?/;
/** Paths inside the engine that mean nothing to the reader. */
const ENGINE_PATH =
  /(\/[^\s:"]*)?\/(buildkit-mount\d+|docker-builder\d+|overlay2\/[^/\s]+(\/(merged|diff))?|snapshots\/[^/\s]+\/fs)/g;
const KILLED = 137;
/** Exit code of a shell that does not find a command. */
const NOT_FOUND = 127;
const PULLED = [
  /^\[internal\] load metadata for (\S+)/,
  /^resolve image config for (?:docker-image:\/\/)?(\S+)/,
  /^(?:\[[^\]]*\] )?FROM (?:--platform=\S+ )?(\S+)/,
  /^docker-image:\/\/(\S+)/,
];

/** Returns the failure for a build that failed on the engine; `step` is the failed one, if known. */
export function buildFailure(message: string, step?: FailedStep): Failure {
  const reason = reasonOf(step?.error ?? message);
  const image = step && pulledImage(step.name);
  if (image !== undefined && !/invalid reference|no match for platform/.test(reason))
    return imageMissing(image, reason);
  const code = exitCode(step?.error ?? message);
  const name = step && cut(step.name);
  if (name !== undefined && code !== undefined) return failed(`step ${name} ended with code ${code}${hint(code)}`);
  return failed(name === undefined ? reason : `step ${name} failed: ${reason}`);
}

function imageMissing(image: string, reason: string): Failure {
  const short = image.replace(/@sha256:[0-9a-f]+$/, "").replace(/^docker\.io\/(library\/)?/, "");
  return invalid(
    "base_image_missing",
    `Cannot build: the image ${cut(short)} is not on this machine and cannot be pulled (${reason}). Pull it, or map it in BASE_IMAGES`,
  );
}

function failed(what: string): Failure {
  return invalid("build_failed", `Cannot build: ${what}`);
}

function hint(code: number): string {
  if (code === NOT_FOUND) return "; it calls something that is not in the image; the log says what. Install it there";
  return code === KILLED ? "; it was killed, most likely for lack of memory" : "";
}

function pulledImage(name: string): string | undefined {
  for (const pattern of PULLED) {
    const image = pattern.exec(name)?.[1];
    if (image !== undefined) return image;
  }
  return undefined;
}

/** Parses the exit code from an error of BuildKit, new and old, or of the classic builder. */
function exitCode(error: string): number | undefined {
  const found = /exit code: (\d+)|returned a non-zero code: (\d+)/.exec(error);
  return found ? Number(found[1] ?? found[2]) : undefined;
}

function reasonOf(error: string): string {
  let reason = error.replaceAll(/\s+/g, " ").trim();
  for (let shorter = ""; ; reason = shorter) {
    shorter = reason.replace(PREFIX, "");
    if (shorter === reason || shorter === "") break;
  }
  return cut(reason.replaceAll(ENGINE_PATH, ""));
}

function cut(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
