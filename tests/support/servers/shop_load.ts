import { visitAnew, visitKept, type Visits } from "./constant_visits.ts";
import type { EdgeConnection, EdgeRequest } from "./edge_connection.ts";

type ShopRequest = Pick<EdgeRequest, "path" | "method">;

/** The outcome of a load on the shop. */
export interface ShopLoadOutcome {
  /** The number of responses to the page, to the list of orders and to new orders. */
  readonly pages: number;
  readonly lists: number;
  readonly orders: number;
  /** Requests without a complete 200 response, with the reason. */
  readonly failures: readonly string[];
  /** Responses of the api in a version that was neither the current nor the next one when the request was sent. */
  readonly wentBack: readonly string[];
  /** Responses with fewer orders than had been seen before the request was sent. */
  readonly forgotten: readonly string[];
}

/** The address of the shop. */
export interface ShopLoadOptions {
  readonly port: number;
  readonly hostname: string;
}

/** The example's programs serve one visitor at a time: keeps them busy without overloading them. */
const PAUSE_MS = 80;
const ORDER_MS = 200;
const ANSWER = /api (\w+), schema (\d+), (\d+) orders, (\d+) shipped\n$/;

/** Requests pages, lists orders and places orders, over persistent and new connections, until stopped. */
export class ShopLoad {
  readonly #options: ShopLoadOptions;
  readonly #stopping = new AbortController();
  readonly #running: readonly Promise<void>[];
  readonly #counts = { pages: 0, lists: 0, orders: 0 };
  readonly #failures: string[] = [];
  readonly #wentBack: string[] = [];
  readonly #forgotten: string[] = [];
  readonly #web = new Set<string>();
  /** The version of the api in the last response, and the one that is allowed to appear next. */
  #current: string;
  #next: string | undefined;
  #mostOrders = 0;

  constructor(options: ShopLoadOptions, current: string) {
    this.#options = options;
    this.#current = current;
    const page = this.#visits({ path: "/" }, PAUSE_MS);
    const list = this.#visits({ path: "/api/orders" }, PAUSE_MS);
    const order = this.#visits({ path: "/api/orders", method: "POST" }, ORDER_MS);
    this.#running = [visitKept(page), visitAnew(page), visitKept(list), visitAnew(list), visitKept(order)];
  }

  /** The version of the api that visitors get. */
  get version(): string {
    return this.#current;
  }

  /** The versions of web that were seen since the last call. */
  takeWebVersions(): readonly string[] {
    const seen = [...this.#web];
    this.#web.clear();
    return seen;
  }

  /** Allows the api to respond in another version from now on. Once it does, the one before must not reappear. */
  allow(version: string): void {
    this.#next = version;
  }

  async stop(): Promise<ShopLoadOutcome> {
    this.#stopping.abort();
    await Promise.all(this.#running);
    return {
      ...this.#counts,
      failures: this.#failures,
      wentBack: this.#wentBack,
      forgotten: this.#forgotten,
    };
  }

  #visits(request: ShopRequest, pauseMs: number): Visits {
    const { path, method = "GET" } = request;
    return {
      port: this.#options.port,
      pauseMs,
      signal: this.#stopping.signal,
      ask: (connection, close) => this.#ask(connection, request, close),
      failed: (how, error) =>
        this.#failures.push(`${new Date().toISOString()} ${how} ${method} ${path}: ${String(error)}`),
    };
  }

  async #ask(connection: EdgeConnection, request: ShopRequest, close: boolean): Promise<void> {
    const before = this.#current;
    const most = this.#mostOrders;
    const body = await connection.request({ hostname: this.#options.hostname, close, ...request });
    const [, version, , orders] = ANSWER.exec(body) ?? [];
    if (version === undefined) throw new Error(`Not a response of the shop: ${body}`);
    if (Number(orders) < most) this.#forgotten.push(`${most} ${body}`);
    this.#mostOrders = Math.max(this.#mostOrders, Number(orders));
    if (request.path === "/") {
      this.#counts.pages++;
      this.#web.add(/\(web (\w+)\)/.exec(body)?.[1] ?? body);
      return;
    }
    this.#counts[request.method === "POST" ? "orders" : "lists"]++;
    if (version === this.#next) {
      this.#current = version;
      this.#next = undefined;
    } else if (version !== this.#current && version !== before) this.#wentBack.push(`${this.#current} ${body}`);
  }
}
