import { type Failure, invalid } from "../../../domain/failure.ts";

/** Why a pull failed: the registry requires a login, has no such image, or did not respond as a registry does. */
export type PullProblem = "login" | "absent" | "unanswered";

const SHOWN_CHARACTERS = 300;
const LOGIN = /unauthorized|authentication required|(?<!permission )denied|no basic auth credentials|docker login/i;
const ABSENT =
  /manifest unknown|manifest for .* not found|name unknown|repository .*not found|not found: manifest|no matching manifest|does not exist/i;
/** Prefixes that the engine puts before the registry's message. */
const PREFIX =
  /^(?:Error response from daemon|error pulling image configuration|Head|Get|rpc error: code = \w+ desc =):? /;

/** Classifies the engine's message about a failed pull. */
export function pullProblem(words: string): PullProblem {
  if (LOGIN.test(words)) return "login";
  return ABSENT.test(words) ? "absent" : "unanswered";
}

/** Returns the `image_missing` failure for a failed pull, with the registry's message. */
export function pullFailure(reference: string, words: string): Failure {
  const reason = plainReason(words);
  const next = {
    login:
      "The registry requires a login for it, or has no such image. Logins are not supported yet: use a public image, or pull it on this machine",
    absent: "Check its name and tag",
    unanswered:
      "Check the address of its registry and try again later, or load the image on this machine with docker load: an image that is there is not pulled",
  }[pullProblem(words)];
  return invalid("image_missing", `Cannot get the image ${reference}: ${reason}. ${next}`);
}

/**
 * Formats a message of the engine or a registry for use in a sentence: one line of printable characters, cut at 300.
 */
export function plainReason(words: string): string {
  const plain = words
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .replace(PREFIX, "")
    .replace(/\.$/, "");
  return plain.length > SHOWN_CHARACTERS ? `${plain.slice(0, SHOWN_CHARACTERS)}…` : plain;
}
