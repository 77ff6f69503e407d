import type { Secret } from "../../../domain/secret.ts";
import { shellWord } from "../../../domain/shell_word.ts";
import type { CallHandler } from "./build_session.ts";
import { GRPC_STATUS } from "./grpc_stream.ts";
import { wireFields, WireMessage } from "./wire_format.ts";

/** The gRPC method by which the engine requests a secret. */
export const GET_SECRET = "/moby.buildkit.secrets.v1.Secrets/GetSecret";

/** The secret that sets all variables when a shell sources it. */
const ALL = "slipway_env";
const SHELL_NAME = /^[A-Za-z_]\w*$/;

/** Serves each variable by its name, and all of them as a shell script; stores nothing on this side. */
export function buildSecrets(secrets: ReadonlyMap<string, Secret>): CallHandler {
  const script = [...secrets]
    .filter(([name]) => SHELL_NAME.test(name))
    .map(([name, value]) => `export ${name}=${shellWord(value.reveal())}\n`);
  return async function (call) {
    for await (const message of call.messages()) {
      const id = secretId(message);
      const value = secrets.get(id)?.reveal() ?? (id === ALL ? script.join("") : undefined);
      if (value === undefined) return await call.end(GRPC_STATUS.notFound, "There is no such secret");
      await call.send(new WireMessage().bytes(1, new TextEncoder().encode(value)).finish());
    }
  };
}

function secretId(message: Uint8Array): string {
  for (const [field, value] of wireFields(message)) {
    if (field === 1 && value instanceof Uint8Array) return new TextDecoder().decode(value);
  }
  return "";
}
