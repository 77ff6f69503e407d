import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SftpObjectStorages } from "../../../adapters/ssh/sftp/object_storages.ts";
import { Failure } from "../../../domain/failure.ts";
import { partName, splitKey } from "../../../domain/backups/object_key.ts";
import type { RemoteTarget } from "../../../ports/servers/remote_hosts.ts";
import { objectStorageContract, type StorageForContract } from "../../contracts/object_storage.ts";
import { body, digestOf, textBody, textOf } from "../../support/inputs/bodies.ts";
import { type SshdContainer, startSshd } from "../../support/peers/sshd_container.ts";

const MIB = 1024 * 1024;
const storages = new SftpObjectStorages();
let server: SshdContainer;
let second: SshdContainer;

beforeAll(async () => {
  // In memory, because these tests do not measure the disk.
  const fast = "size=3g,mode=1777";
  const tmpfs = { "/srv/small": "size=300k,mode=1777", "/srv/fast": fast, "/srv/jail/fast": fast };
  [server, second] = await Promise.all([startSshd({ tmpfs }), startSshd()]);
});
afterAll(async () => {
  await Promise.all([server, second].map((each) => each?.[Symbol.asyncDispose]()));
});

const open = (remote: RemoteTarget, folder: string) => storages.open({ kind: "remote_folder", remote, folder });

/** A stream that stalls after its first chunk until `goOn` is called. */
function haltingBody() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const reader = body(64 * MIB).stream.getReader();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value } = await reader.read();
        if (value) controller.enqueue(value);
        else controller.close();
        await promise;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, goOn: resolve };
}

/** A storage in a folder of a user, whose root directory is `jail`. */
async function place(
  remote: RemoteTarget,
  folder: string,
  jail = "",
  at: SshdContainer = server,
): Promise<StorageForContract> {
  const storage = await storages.open({ kind: "remote_folder", remote, folder });
  const root = `${jail}/${folder}`;
  return {
    storage,
    async raw() {
      const found = await at.exec(["sh", "-c", `cd "$1" && find . -type f -print0`, "sh", root]);
      return found
        .split("\0")
        .filter(Boolean)
        .map((path) => path.slice(2));
    },
    async abandon(key) {
      const { folder: within, name } = splitKey(key);
      const script = `mkdir -p "$1" && chmod 777 "$1" && printf half > "$1/$2"`;
      await at.exec(["sh", "-c", script, "sh", `${root}/${within}`, partName(name)]);
    },
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  };
}

objectStorageContract("SFTP by password", () => place(server.alice, "/srv/fast/alice/made/when needed"), {
  largest: 512 * MIB,
});
objectStorageContract("SFTP by key", () => place(server.bob, "/srv/fast/bob"));
objectStorageContract("SFTP by key with a passphrase", () => place(server.protectedBob, "/srv/fast/phrase"));
objectStorageContract("SFTP below the login folder of a second server", () =>
  place(second.bob, ".slipway/backups", "/home/bob", second),
);
objectStorageContract("SFTP in a jail without a shell", () => place(server.gina, "fast/gina", "/srv/jail"));

describe("SftpObjectStorages on OpenSSH", () => {
  test("open() returns the host key, and refuses an unexpected one before it logs in", async () => {
    await using storage = await open(server.bob, "keyed");
    expect(storage.hostKey).toMatch(/^SHA256:/);
    await using again = await open({ ...server.bob, hostKey: storage.hostKey! }, "keyed");
    expect(again.hostKey).toBe(storage.hostKey);
    const other = open({ ...server.bob, hostKey: `SHA256:${"A".repeat(42)}E` }, "keyed");
    await expect(other).rejects.toMatchObject({ code: "host_key_changed" });
  });

  test("open() connects to no other address than the one that was checked", async () => {
    const refused = new Failure(
      "remote_failed",
      "unreachable",
      "Cannot connect: only public addresses can be used here",
    );
    const guarded = new SftpObjectStorages({ resolveAddress: () => Promise.reject(refused) });
    const target = { kind: "remote_folder", remote: server.bob, folder: "guarded" } as const;
    await expect(guarded.open(target)).rejects.toBe(refused);
    const lookups: string[] = [];
    const named = new SftpObjectStorages({
      async resolveAddress(host) {
        lookups.push(host);
        return lookups.length === 1 ? server.bob.host : "192.0.2.1";
      },
    });
    await using storage = await named.open({ ...target, remote: { ...server.bob, host: "changes-its-mind.invalid" } });
    await storage.put("x", textBody("x"));
    expect(lookups).toEqual(["changes-its-mind.invalid"]);
  });

  test("a connection that breaks ends a put(), and the next operation opens a new one", async () => {
    await using storage = await open(server.bob, "broken");
    await storage.put("kept", textBody("kept"));
    const { stream, goOn } = haltingBody();
    const putting = storage.put("new", stream);
    putting.catch(() => {});
    await server.exec(["break-sessions"]);
    goOn();
    await expect(putting).rejects.toMatchObject({ code: "unreachable" });
    expect(await textOf(await storage.get("kept"))).toBe("kept");
    expect(await storage.unfinished("")).toEqual(["new"]);
    await storage.discard("new");
    expect(await storage.unfinished("")).toEqual([]);
  });

  test("put() reports a full disk, and leaves nothing", async () => {
    await using storage = await open(server.bob, "/srv/small");
    await storage.put("fits", body(100_000).stream);
    await expect(storage.put("large", body(MIB).stream)).rejects.toMatchObject({
      code: "storage_full",
      message: expect.stringContaining("the disk there is full"),
    });
    expect(await storage.unfinished("")).toEqual([]);
    expect((await digestOf(await storage.get("fits")))?.bytes).toBe(100_000);
  });

  test("put() reports missing write permission", async () => {
    await using storage = await open(server.gina, "locked");
    await expect(storage.put("x", textBody("x"))).rejects.toMatchObject({ code: "permission_denied" });
    await using top = await open(server.gina, "");
    await expect(top.put("made/x", textBody("x"))).rejects.toMatchObject({ code: "permission_denied" });
  });

  test("a silent machine is abandoned when the signal is aborted", async () => {
    await using storage = await open(server.bob, "paused");
    await storage.put("x", textBody("x"));
    await server.pause();
    try {
      const reason = new Error("Too long");
      const signals = () => {
        const late = new AbortController();
        setTimeout(() => late.abort(reason), 200);
        return { signal: late.signal };
      };
      await expect(storage.get("x", signals())).rejects.toBe(reason);
      await expect(storage.put("y", body(8 * MIB).stream, signals())).rejects.toBe(reason);
    } finally {
      await server.unpause();
    }
    expect(await textOf(await storage.get("x"))).toBe("x");
  });
});
