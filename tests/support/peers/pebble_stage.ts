import { AcmeAuthority } from "../../../adapters/acme/acme_authority.ts";
import { MemoryAuthorityAccounts } from "../../../adapters/memory/authority_accounts.ts";
import { MemoryTables } from "../../../adapters/memory/memory_tables.ts";
import { Pebble, type PebbleOptions } from "./pebble.ts";

/** Starts an authority that looks for proofs at a server of the test. */
export async function pebbleStage(options: Omit<PebbleOptions, "httpPort"> = {}) {
  await using opened = new AsyncDisposableStack();
  const served = new Map<string, string>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { hostname, pathname } = new URL(request.url);
      const text = served.get(`${hostname}/${pathname.replace("/.well-known/acme-challenge/", "")}`);
      return text === undefined ? new Response("None", { status: 404 }) : new Response(text);
    },
  });
  opened.defer(() => server.stop(true));
  const pebble = opened.use(await Pebble.start({ httpPort: server.port!, ...options }));
  const tables = new MemoryTables();
  /** Another process of the same installation. */
  const process = () =>
    new AcmeAuthority({
      directoryUrl: pebble.directoryUrl,
      email: "admin@example.com",
      accounts: new MemoryAuthorityAccounts(tables),
      authorities: [pebble.ca],
    });
  const held = opened.move();
  return { authority: process(), process, pebble, served, [Symbol.asyncDispose]: () => held.disposeAsync() };
}
