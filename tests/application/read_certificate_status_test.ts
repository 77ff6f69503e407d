import { describe, expect, test } from "bun:test";
import { type MemoryWorld, memoryWorld } from "../../adapters/memory/memory_world.ts";
import { readCertificateStatus } from "../../application/domains/read_certificate_status.ts";
import type { Handshake } from "../../domain/certificates/handshake.ts";
import { Failure } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import { newId } from "../../domain/id.ts";

const OWNER: Principal = {
  userId: "usr_1",
  organizationId: "org_1",
  role: "owner",
  grants: [],
  founder: true,
  credential: { kind: "token", id: "tok_1" },
  narrowing: null,
  expiresAt: null,
};
const STRANGER: Principal = { ...OWNER, userId: "usr_2", organizationId: "org_2" };
const HOST = "www.example.com";
const PUBLIC = "93.184.215.14";
const EDGE = { address: "127.0.0.1", port: 4443 };

/** A member who may read one project only. */
const restricted = (id: string): Principal => ({
  ...OWNER,
  role: "restricted",
  grants: [{ resource: "project", id, action: "read" }],
});

/** A world and its use case. Addresses and servers are added by the tests. */
function scene(mode: "self-hosted" | "cloud" = "self-hosted", edgeTls: typeof EDGE | undefined = EDGE) {
  const world = memoryWorld();
  const { nameRecords, tlsProbe } = world;
  return {
    world,
    read: readCertificateStatus({ ...world, mode, edgeTls }),
    resolve: (hostname: string, ...addresses: string[]) => nameRecords.set(hostname, { addresses }),
    serve: (address: string, days = 60, port = 443) =>
      tlsProbe.serve(address, port, (hostname) => presented(world, hostname, days)),
    handshakes: tlsProbe.handshakes,
  };
}

function presented({ clock }: MemoryWorld, hostname: string, days: number): Handshake {
  const inDays = (count: number) => new Date(clock.now().getTime() + count * 86_400_000);
  const certificate = {
    issuer: "R11",
    subject: hostname,
    names: [hostname],
    notBefore: inDays(-90),
    notAfter: inDays(days),
    fingerprint256: "AA:BB",
  };
  return { kind: "presented", certificate, chainFault: null };
}

async function claim(
  world: MemoryWorld,
  hostname: string,
  changes: { organizationId?: string; verifiedAt?: null } = {},
) {
  const at = world.clock.now();
  const domain = {
    id: newId("dom", at),
    organizationId: OWNER.organizationId,
    projectId: "prj_1",
    hostname,
    type: "free",
    proof: "proof",
    verifiedAt: at,
    createdAt: at,
    ...changes,
  } as const;
  expect(await world.domains.claim(domain)).toBe(true);
}

describe("readCertificateStatus()", () => {
  test("shakes hands with port 443 of the address of the name", async () => {
    const { read, resolve, serve, handshakes } = scene();
    resolve(HOST, PUBLIC);
    serve(PUBLIC);
    expect(await read(OWNER, HOST)).toMatchObject({ hostname: HOST, status: "valid", daysLeft: 60, reason: null });
    expect(handshakes).toEqual([`${HOST} at ${PUBLIC} port 443`]);
  });

  test.each([
    [" WWW.Example.COM. ", HOST],
    ["bücher.example", "xn--bcher-kva.example"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
  ])("takes %p for %p", async (domain, hostname) => {
    const { read, resolve, serve } = scene();
    resolve(hostname, PUBLIC);
    serve(PUBLIC);
    expect(await read(OWNER, domain)).toMatchObject({ hostname, status: "valid" });
  });

  test.each([
    "https://www.example.com",
    "www.example.com:443",
    "www.example.com/path",
    "user@www.example.com",
    "*.example.com",
    "localhost",
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "[::1]",
    "::1",
    "a b.example.com",
    "a..example.com",
    "-a.example.com",
    "a_b.example.com",
    "\0",
    "",
    " ",
    ".",
  ])("refuses %j before it looks anything up", async (domain) => {
    const { read, handshakes } = scene();
    const failure = await read(OWNER, domain).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: "invalid", details: [{ path: "domain" }] });
    expect(handshakes).toEqual([]);
  });

  test("reports the worst of several addresses, and which one it is", async () => {
    const { read, resolve, serve } = scene();
    resolve(HOST, PUBLIC, "93.184.215.15", "2606:2800:21f::1");
    serve(PUBLIC);
    expect(await read(OWNER, HOST)).toMatchObject({ status: "valid" });
    serve("2606:2800:21f::1", 3);
    expect(await read(OWNER, HOST)).toMatchObject({ status: "expiring", daysLeft: 3 });
    serve("93.184.215.15", -1);
    expect(await read(OWNER, HOST)).toMatchObject({ status: "expired", daysLeft: -1 });
  });

  test("shakes hands with eight addresses at most", async () => {
    const { read, resolve, handshakes } = scene();
    resolve(HOST, ...Array.from({ length: 100 }, (_, index) => `93.184.215.${index}`));
    expect((await read(OWNER, HOST)).status).toBe("unreachable");
    expect(handshakes).toHaveLength(8);
  });

  test("is unreachable, with a reason, without an address, a name server or a listener", async () => {
    const { read, resolve, world, handshakes } = scene();
    const missing = await read(OWNER, "missing.example.com");
    expect(missing).toMatchObject({
      status: "unreachable",
      certificate: null,
      reason: expect.stringContaining("record"),
    });
    world.nameRecords.set("silent.example.com", { silent: true });
    const silent = await read(OWNER, "silent.example.com");
    expect(silent).toMatchObject({ status: "unreachable", reason: expect.stringContaining("No name server") });
    expect(handshakes).toEqual([]);
    resolve(HOST, PUBLIC);
    const refused = await read(OWNER, HOST);
    expect(refused).toMatchObject({ status: "unreachable", reason: expect.stringContaining(`${PUBLIC} port 443`) });
  });

  test("passes on other failures of the lookup", async () => {
    const { world } = scene();
    const broken = new Failure("unavailable", "database_away", "Cannot");
    const nameRecords = { addresses: () => Promise.reject(broken), texts: async () => [] };
    const read = readCertificateStatus({ ...world, nameRecords, mode: "cloud", edgeTls: EDGE });
    await expect(read(OWNER, HOST)).rejects.toBe(broken);
  });

  test("ends when its signal aborts", async () => {
    const { read, resolve, serve } = scene();
    resolve(HOST, PUBLIC);
    serve(PUBLIC);
    expect((await read(OWNER, HOST, AbortSignal.abort())).status).toBe("unreachable");
  });
});

describe("readCertificateStatus() of the installation's own names", () => {
  const OWN = "shop.localhost";

  test.each([[[]], [["127.0.0.1"]], [["127.0.0.1", "::1"]]])(
    "asks the edge if the addresses are %j",
    async (addresses) => {
      const { read, resolve, serve, world, handshakes } = scene();
      await claim(world, OWN);
      resolve(OWN, ...addresses);
      serve(EDGE.address, 60, EDGE.port);
      expect(await read(OWNER, OWN)).toMatchObject({ status: "valid" });
      expect(handshakes).toEqual([`${OWN} at 127.0.0.1 port 4443`]);
    },
  );

  test("asks the public address of one that has it", async () => {
    const { read, resolve, serve, world, handshakes } = scene();
    await claim(world, HOST);
    resolve(HOST, PUBLIC, "127.0.0.1");
    serve(PUBLIC);
    await read(OWNER, HOST);
    expect(handshakes).toEqual([`${HOST} at ${PUBLIC} port 443`, `${HOST} at 127.0.0.1 port 443`]);
  });

  test("tells another organization as much as about a name that does not exist", async () => {
    const { read, serve, world, handshakes } = scene();
    await claim(world, OWN);
    serve(EDGE.address, 60, EDGE.port);
    const foreign = await read(STRANGER, OWN);
    const missing = await read(STRANGER, "ship.localhost");
    const alike = { ...foreign, hostname: missing.hostname, reason: foreign.reason!.replace("shop", "ship") };
    expect(missing).toEqual(alike);
    expect(handshakes).toEqual([]);
  });

  test("does not ask the edge for a member who may not read the project, nor for an unverified name", async () => {
    const { read, serve, world } = scene();
    await claim(world, OWN);
    await claim(world, HOST, { verifiedAt: null });
    serve(EDGE.address, 60, EDGE.port);
    expect((await read(restricted("prj_1"), OWN)).status).toBe("valid");
    expect((await read(restricted("prj_2"), OWN)).status).toBe("unreachable");
    expect((await read(OWNER, HOST)).status).toBe("unreachable");
  });

  test("is unreachable where the port of the edge is not known", async () => {
    const { world } = scene();
    await claim(world, OWN);
    const read = readCertificateStatus({ ...world, mode: "self-hosted", edgeTls: undefined });
    expect((await read(OWNER, OWN)).status).toBe("unreachable");
  });
});

describe("readCertificateStatus() in cloud mode", () => {
  test.each([
    [["127.0.0.1"]],
    [["10.0.0.7"]],
    [["169.254.169.254"]],
    [["::1"]],
    [["fd00::1"]],
    [["::ffff:127.0.0.1"]],
    [[PUBLIC, "192.168.1.1"]],
  ])("refuses a name with the addresses %j, and connects to none", async (addresses) => {
    const { read, resolve, serve, handshakes } = scene("cloud");
    resolve(HOST, ...addresses);
    for (const address of addresses) serve(address);
    await expect(read(OWNER, HOST)).rejects.toMatchObject({ kind: "invalid", details: [{ path: "domain" }] });
    expect(handshakes).toEqual([]);
  });

  test("connects to the address that was checked, after one lookup", async () => {
    const { world, serve, handshakes } = scene("cloud");
    const lookups = [[PUBLIC], ["127.0.0.1"]];
    const nameRecords = { addresses: async () => lookups.shift() ?? [], texts: async () => [] };
    serve(PUBLIC);
    const read = readCertificateStatus({ ...world, nameRecords, mode: "cloud", edgeTls: EDGE });
    expect((await read(OWNER, HOST)).status).toBe("valid");
    expect(handshakes).toEqual([`${HOST} at ${PUBLIC} port 443`]);
    expect(lookups).toHaveLength(1);
  });

  test("does not ask the edge for own names without an address", async () => {
    const { read, serve, world, handshakes } = scene("cloud");
    await claim(world, HOST);
    serve(EDGE.address, 60, EDGE.port);
    expect((await read(OWNER, HOST)).status).toBe("unreachable");
    expect(handshakes).toEqual([]);
  });
});
