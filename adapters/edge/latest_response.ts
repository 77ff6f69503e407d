import { type ResponseHead, responseHead } from "./response_head.ts";

/** Longer heads are parsed each time, so that an idle connection keeps little memory. */
const MAX_LENGTH = 8_192;

/** The latest response head of one connection: an identical one, as busy apps send many, is not parsed again. */
export class LatestResponse {
  #text = "";
  #method = "";
  #head: ResponseHead | undefined;

  /** Parses the next head as `responseHead` does. */
  parse(text: string, method: string): ResponseHead {
    if (this.#head && text === this.#text && method === this.#method) return this.#head;
    this.#head = responseHead(text, method);
    this.#text = text.length <= MAX_LENGTH ? text : "";
    this.#method = method;
    return this.#head;
  }
}
