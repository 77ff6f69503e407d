import type { Peer } from "./forwarded.ts";
import { requestPassedOn } from "./passed_on.ts";
import { type RequestHead, requestHead, withTarget } from "./request_head.ts";

/** Longer heads are parsed each time, so that an idle connection keeps little memory. */
const MAX_LENGTH = 8_192;
const ORIGIN_FORM = /^\/[\x21-\x7e\x80-\xff]*$/;

/**
 * The latest request of one connection. Clients repeat their header lines, so a request that differs from the one
 * before at most in its target is not parsed again.
 */
export class LatestRequest {
  readonly #peer: Peer;
  #head: RequestHead | undefined;
  #text = "";
  /** What follows the target in the text; empty if another target could change more than the target. */
  #afterTarget = "";
  #forwarded: string | undefined;

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  /** Parses the next head as `requestHead` does. */
  parse(text: string): RequestHead {
    const former = this.#head;
    if (former && text === this.#text) return former;
    this.#head = undefined;
    const target = former && this.#changedTarget(text, former);
    const head = former && target !== undefined ? this.#retargeted(former, target) : this.#parsed(text);
    this.#text = text.length <= MAX_LENGTH ? text : "";
    this.#head = head;
    return head;
  }

  /** Returns the latest head as it is forwarded to the app. */
  forwarded(head: RequestHead): string {
    return (this.#forwarded ??= requestPassedOn(head, this.#peer));
  }

  #parsed(text: string): RequestHead {
    this.#forwarded = undefined;
    const head = requestHead(text);
    const { method, target } = head;
    const at = method.length + 1;
    // An absolute target, which names a host, is not part of the text in origin form.
    const isPlain = target.startsWith("/") && text.startsWith(target, at) && text.length <= MAX_LENGTH;
    this.#afterTarget = isPlain ? text.slice(at + target.length) : "";
    return head;
  }

  /** Returns the target of a head if everything else in it is as in the former one. */
  #changedTarget(text: string, { method }: RequestHead): string | undefined {
    const after = this.#afterTarget;
    if (after === "" || !text.endsWith(after) || !text.startsWith(`${method} `)) return undefined;
    const target = text.slice(method.length + 1, -after.length);
    return ORIGIN_FORM.test(target) ? target : undefined;
  }

  #retargeted(former: RequestHead, target: string): RequestHead {
    const { method } = former;
    const rest = this.#forwarded?.slice(method.length + 1 + former.target.length);
    this.#forwarded = rest === undefined ? undefined : `${method} ${target}${rest}`;
    return withTarget(former, target);
  }
}
