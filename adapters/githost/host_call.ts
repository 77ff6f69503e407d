import { UnusableAnswer } from "./host_fetch.ts";
import type { Octokit } from "octokit";
import type { Secret } from "../../domain/secret.ts";
import { hasStatus } from "./host_failure.ts";
import type { HostFetch } from "./host_fetch.ts";
import type { RememberedAnswers } from "./remembered_answers.ts";

/** What every request of a call is sent with. */
export type RequestOptions = {
  readonly headers: Readonly<Record<string, string>>;
  readonly request: { readonly fetch: HostFetch };
};

/** An answer of the git host, as octokit returns it. */
interface Answer<Data> {
  readonly data: Data;
  readonly headers: { readonly etag?: string | undefined; readonly link?: string | undefined };
}

/** Sends a request with these options. */
type Send<Data> = (octokit: Octokit, options: RequestOptions) => Promise<Answer<Data>>;

/** Sends a request for one page with these options. */
type SendPage<Data> = (
  octokit: Octokit,
  options: RequestOptions & { readonly per_page: number; readonly page: number },
) => Promise<Answer<Data>>;

/** What a call is made with. */
export interface HostCallOptions {
  readonly octokit: Octokit;
  readonly fetch: HostFetch;
  readonly remembered: RememberedAnswers;
  readonly identity: string;
  readonly firstToken: Secret;
  /** Returns another token when the first is refused. */
  readonly renew?: () => Promise<Secret>;
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly lastPage: number | undefined;
  readonly hasNext: boolean;
}

const PER_PAGE = 100;
const PAGES_AT_ONCE = 6;
/** More, because the host does not count answers that say that nothing changed. */
const REMEMBERED_PAGES_AT_ONCE = 20;
const BYTES_PER_ITEM = 600;

/** Requests to the git host with one access, for one operation. */
export class HostCall {
  readonly #options: HostCallOptions;
  #token: Promise<Secret>;
  #isRenewed = false;

  constructor(options: HostCallOptions) {
    this.#options = options;
    this.#token = Promise.resolve(options.firstToken);
  }

  /** Sends a request. A token of an installation that the host refuses is renewed once. */
  async send<Data>(send: Send<Data>, headers: Readonly<Record<string, string>> = {}): Promise<Answer<Data>> {
    const { octokit, fetch, renew } = this.#options;
    const used = this.#token;
    const authorization = `Bearer ${(await used).reveal()}`;
    try {
      return await send(octokit, { headers: { ...headers, authorization }, request: { fetch } });
    } catch (error) {
      if (!hasStatus(error, 401) || !renew || (this.#isRenewed && used === this.#token)) throw error;
      if (!this.#isRenewed) this.#token = renew();
      this.#isRenewed = true;
      return await this.send(send, headers);
    }
  }

  /** Reads something that `key` names, and asks only whether it changed if it is remembered. */
  async read<Data, Value>(
    key: string,
    send: Send<Data>,
    map: (data: Data) => Value,
    bytes: (value: Value) => number = () => BYTES_PER_ITEM,
  ): Promise<Value> {
    return (await this.#read<Data, Value>(key, send, map, bytes)).value;
  }

  /** Reads all pages of a list that `key` names, several at once, in the order of the host. */
  async list<Data, Item>(key: string, send: SendPage<Data>, map: (data: Data) => readonly Item[]): Promise<Item[]> {
    const read = (page: number) => this.#page(key, page, send, map);
    const guess = this.#options.remembered.get(this.#keyOf(`${key} 1`))?.lastPage ?? 1;
    const pages = await inParallel(range(1, guess), REMEMBERED_PAGES_AT_ONCE, read);
    const last = pages[0]?.lastPage ?? 1;
    if (last > guess) pages.push(...(await inParallel(range(guess + 1, last), PAGES_AT_ONCE, read)));
    const kept = pages.slice(0, Math.max(last, 1));
    while (kept.at(-1)?.hasNext) kept.push(await read(kept.length + 1));
    return kept.flatMap(({ items }) => items);
  }

  async #page<Data, Item>(
    key: string,
    page: number,
    send: SendPage<Data>,
    map: (data: Data) => readonly Item[],
  ): Promise<Page<Item>> {
    const sendPage: Send<Data> = (octokit, options) => send(octokit, { ...options, per_page: PER_PAGE, page });
    const bytes = (items: readonly Item[]) => (items.length + 1) * BYTES_PER_ITEM;
    const { value, lastPage, hasNext, isRemembered } = await this.#read(`${key} ${page}`, sendPage, map, bytes);
    // An unchanged page does not say that another one has been added behind it.
    return { items: value, lastPage, hasNext: hasNext || (isRemembered && value.length >= PER_PAGE) };
  }

  async #read<Data, Value>(key: string, send: Send<Data>, map: (data: Data) => Value, bytes: (value: Value) => number) {
    const { remembered } = this.#options;
    const place = this.#keyOf(key);
    const known = remembered.get(place);
    try {
      const { data, headers } = await this.send(send, known ? { "if-none-match": known.etag } : {});
      const value = map(data);
      const [lastPage, hasNext] = [lastPageOf(headers.link), /rel="next"/.test(headers.link ?? "")];
      if (headers.etag) remembered.put(place, { etag: headers.etag, value, lastPage, hasNext }, bytes(value));
      return { value, lastPage, hasNext, isRemembered: false };
    } catch (error) {
      if (!known || !hasStatus(error, 304)) throw error;
      return { ...known, value: known.value as Value, isRemembered: true };
    }
  }

  #keyOf(key: string): string {
    return `${this.#options.identity} ${key}`;
  }
}

/** A million entries. */
const MOST_PAGES = 10_000;

/** Reads the number of the last page from a header such as `<https://…?page=15>; rel="last"`. */
function lastPageOf(link: string | undefined): number | undefined {
  const address = /<([^<>]+)>;\s*rel="last"/.exec(link ?? "")?.[1];
  const page = address && URL.canParse(address) ? Number(new URL(address).searchParams.get("page")) : Number.NaN;
  if (page > MOST_PAGES) throw new UnusableAnswer("it announces more pages than any list has");
  return Number.isInteger(page) ? page : undefined;
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => first + index);
}

/** Runs work for each item, some at a time; results are in the order of the items. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
