import type { S3ClientConfig } from "@aws-sdk/client-s3";

type RequestHandler = Extract<NonNullable<S3ClientConfig["requestHandler"]>, { handle: unknown }>;
type StoreRequest = Parameters<RequestHandler["handle"]>[0];
type StoreAnswer = Awaited<ReturnType<RequestHandler["handle"]>>;

/** Options for connecting to a store. */
export interface StoreConnectionOptions {
  /** Resolves a host to the address to connect to. Its rejection fails the request. */
  readonly resolveAddress?: ((host: string) => Promise<string>) | undefined;
  /** CA certificates to trust, in PEM, including the default ones (see `authoritiesOf`). */
  readonly authorities?: readonly string[] | undefined;
}

/** Sends requests of the SDK with `fetch`, to the validated address only. Never follows redirects. */
export class StoreRequestHandler {
  readonly metadata = { handlerProtocol: "http/1.1" };
  readonly #way: StoreConnectionOptions;

  constructor(way: StoreConnectionOptions) {
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
      // The connection goes to an IP address, but the certificate must still match the host name.
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

/** Percent-encodes as the signature requires: everything but letters, digits, `-`, `.`, `_` and `~`. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
