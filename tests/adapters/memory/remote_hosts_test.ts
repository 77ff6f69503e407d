import { type MemoryMachine, type MemoryProgram, MemoryRemoteHosts } from "../../../adapters/memory/remote_hosts.ts";
import { Secret } from "../../../domain/secret.ts";
import { remoteHostsContract } from "../../contracts/remote_hosts.ts";

const programs = new Map<string, MemoryProgram>([
  ["show-arguments", ([, ...words]) => output(words.map((word) => `${word}\0`).join(""))],
  ["say", ([, stdout = "", stderr = "", code]) => ({ exitCode: Number(code), stdout, stderr })],
  ["flood", ([, times]) => output("ä".repeat(Number(times)), "ä".repeat(Number(times)))],
  [
    "wait-long",
    async (_argv, { signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return output("");
    },
  ],
]);

function output(stdout: string, stderr = "") {
  return { exitCode: 0, stdout, stderr };
}

function key(name: string): string {
  return `-----BEGIN PRIVATE KEY-----\n${name}\n-----END PRIVATE KEY-----\n`;
}

remoteHostsContract("memory", async () => {
  const machine: MemoryMachine = {
    host: "10.0.0.5",
    hostKey: `SHA256:${"m".repeat(42)}A`,
    logins: [
      { user: "alice", password: "correct horse" },
      { user: "bob", privateKey: key("bob's key") },
      { user: "carol", privateKey: key("carol's key"), keyPassphrase: "open sesame" },
    ],
    programs,
  };
  const hosts = new MemoryRemoteHosts([
    machine,
    { ...machine, host: "silent", manner: "silent" },
    { ...machine, host: "closing", manner: "hangs_up" },
  ]);
  const byPassword = { host: machine.host, port: 22, user: "alice", password: new Secret("correct horse") };
  return {
    hosts,
    byPassword,
    byKey: { host: machine.host, port: 22, user: "bob", privateKey: new Secret(key("bob's key")) },
    byProtectedKey: {
      host: machine.host,
      port: 22,
      user: "carol",
      privateKey: new Secret(key("carol's key")),
      keyPassphrase: new Secret("open sesame"),
    },
    strangerKey: new Secret(key("unknown key")),
    absent: { ...byPassword, host: "absent" },
    silent: { ...byPassword, host: "silent" },
    dripping: { ...byPassword, host: "silent" },
    closing: { ...byPassword, host: "closing" },
    changeHostKey: async () => hosts.add({ ...machine, hostKey: `SHA256:${"n".repeat(42)}A` }),
    breakSessions: async () => hosts.interrupt(machine.host),
    [Symbol.asyncDispose]: async () => hosts.remove(machine.host),
  };
});
