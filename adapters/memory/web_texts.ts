import type { WebText, WebTextRequest, WebTexts } from "../../ports/domains/web_texts.ts";

const MAX_LENGTH = 1_024;

/** Simulates web servers by IP address. */
export class MemoryWebTexts implements WebTexts {
  /** The requests that were made, as `ADDRESS HOSTNAME/PATH`. */
  readonly requests: string[] = [];
  readonly #servers = new Map<string, (hostname: string, path: string) => string | undefined>();

  /** Starts a server that answers with texts, and with 404 where it has none. */
  serve(address: string, answer: (hostname: string, path: string) => string | undefined): void {
    this.#servers.set(address, answer);
  }

  async read({ address, hostname, path, signal }: WebTextRequest): Promise<WebText> {
    this.requests.push(`${address} ${hostname}${path}`);
    const answer = this.#servers.get(address);
    if (!answer || signal?.aborted) return { kind: "unreachable" };
    const text = answer(hostname, path);
    if (text === undefined) return { kind: "answered", status: 404, text: "Not found" };
    return { kind: "answered", status: 200, text: text.slice(0, MAX_LENGTH) };
  }
}
