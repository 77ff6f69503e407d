import { visitAnew, visitKept, type Visits } from "./constant_visits.ts";
import type { EdgeConnection, EdgeRequest } from "./edge_connection.ts";

type ShopRequest = Pick<EdgeRequest, "path" | "method">;

/** What came of a load on the shop. */
export interface ShopLoadOutcome {
  /** How often the page, the list of orders and an order were answered. */
  readonly pages: number;
  readonly lists: number;
  readonly orders: number;
  /** Requests without a whole answer of 200, with the reason. */
  readonly failures: readonly string[];
  /** Answers of the api in a version that was neither the current nor the next one when they were asked for. */
  readonly wentBack: readonly string[];
  /** Answers with fewer orders than had been seen before they were asked for. */
  readonly forgotten: readonly string[];
}

/** Where the shop is reached. */
export interface ShopLoadOptions {
  readonly port: number;
  readonly hostname: string;
}

/** The programs of the example serve one visitor after the other: they are kept busy, not overrun. */
const PAUSE_MS = 30;
const ORDER_MS = 100;
const ANSWER = /api (\w+), schema (\d+), (\d+) orders, (\d+) shipped\n$/;

/** Asks for pages, for orders and orders, over connections that stay open and over fresh ones, until stopped. */
export class ShopLoad {
  readonly #options: ShopLoadOptions;
  readonly #stopping = new AbortController();
  readonly #running: readonly Promise<void>[];
  readonly #counts = { pages: 0, lists: 0, orders: 0 };
  readonly #failures: string[] = [];
  readonly #wentBack: string[] = [];
  readonly #forgotten: string[] = [];
  readonly #web = new Set<string>();
  /** The version of the api that was answered last, and the one that may be answered from some moment on. */
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

  /** The versions of web that were seen since this was read last. */
  takeWebVersions(): readonly string[] {
    const seen = [...this.#web];
    this.#web.clear();
    return seen;
  }

  /** Lets the api answer in another version from now on; once it does, never in the one before. */
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
    if (version === undefined) throw new Error(`That is no answer of the shop: ${body}`);
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
