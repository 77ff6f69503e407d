import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";

/** What package installers ask before they start a service. */
const POLICY = "/usr/sbin/policy-rc.d";
/** 101 forbids. Web servers would take ports 80 and 443 of this machine; tests start them on other ports. */
const SCRIPT = `#!/bin/sh
case "$1" in nginx*|haproxy*|caddy*) exit 101 ;; esac
`;

/** Keeps packages of web servers from starting them while they are installed, until disposed. */
export async function withoutWebServices(): Promise<AsyncDisposable> {
  if (existsSync(POLICY)) return { [Symbol.asyncDispose]: async () => {} };
  await writeFile(POLICY, SCRIPT, { mode: 0o755 });
  return { [Symbol.asyncDispose]: () => rm(POLICY, { force: true }) };
}
