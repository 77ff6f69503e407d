import type { S3ClientConfig } from "@aws-sdk/client-s3";

type RequestHandler = Extract<NonNullable<S3ClientConfig["requestHandler"]>, { handle: unknown }>;
type StoreRequest = Parameters<RequestHandler["handle"]>[0];
type StoreAnswer = Awaited<ReturnType<RequestHandler["handle"]>>;

/** How a store is reached. */
export interface WayToStore {
  /** Gives the address to connect to for a host; what it rejects with ends the request. */
  readonly resolveAddress?: ((host: string) => Promise<string>) | undefined;
  /** Certificates of authorities, in PEM, that are believed beside the usual ones. */
  readonly authorities?: readonly string[] | undefined;
}

/** Sends requests of the SDK with `fetch`: to the address that was checked, and never on to where an answer redirects. */
export class StoreRequestHandler {
  readonly metadata = { handlerProtocol: "http/1.1" };
  readonly #way: WayToStore;

  constructor(way: WayToStore) {
    this.#way = way;
  }

  async handle(request: StoreRequest, options: { abortSignal?: unknown } = {}): Promise<StoreAnswer> {
    const { abortSignal } = options;
    const { resolveAddress, authorities } = this.#way;
    const { hostname, method } = request;
    const host = hostname.replace(/^\[|\]$/g, "");
    const address = resolveAddress ? await resolveAddress(host) : host;
    const answer = await fetch(urlOf(request, address), {
      method,
      headers: { ...request.headers, host: request.port ? `${hostname}:${request.port}` : hostname },
      ...(method !== "GET" && method !== "HEAD" && { body: request.body as Uint8Array<ArrayBuffer> }),
      redirect: "manual",
      decompress: false,
      ...(abortSignal instanceof AbortSignal && { signal: abortSignal }),
      // Connected to by its address, the store still has to prove its name.
      tls: { ...(address !== host && { serverName: host }), ...(authorities && { ca: [...authorities] }) },
    } as RequestInit);
    const headers = Object.fromEntries(answer.headers);
    return { response: { statusCode: answer.status, headers, body: answer.body ?? undefined } };
  }

  updateHttpClientConfig(): void {}

  httpHandlerConfigs(): Record<string, never> {
    return {};
  }
}

function urlOf({ protocol, port, path, query }: StoreRequest, address: string): string {
  const host = address.includes(":") ? `[${address}]` : address;
  const parts = Object.entries(query ?? {}).flatMap(([key, value]) =>
    [value].flat().map((each) => `${encoded(key)}=${encoded(String(each ?? ""))}`),
  );
  return `${protocol}//${host}${port ? `:${port}` : ""}${path}${parts.length > 0 ? `?${parts.join("&")}` : ""}`;
}

/** As the signature is computed: everything but letters, digits, `-`, `.`, `_` and `~`. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
