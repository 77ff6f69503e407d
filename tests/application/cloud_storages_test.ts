import { expect, test } from "bun:test";
import { MemoryNameRecords } from "../../adapters/memory/name_records.ts";
import { Secret } from "../../domain/secret.ts";
import { openStorages } from "../../wiring/open_world.ts";
import type { StorageTarget } from "../../ports/backups/object_storages.ts";
import { textBody } from "../support/inputs/bodies.ts";

const SETTINGS = { mode: "cloud", dataFolder: "/data/slipway", backupCaFile: undefined } as const;

const targets = (host: string): StorageTarget[] => [
  {
    kind: "bucket",
    endpoint: `http://${host}:9000`,
    region: null,
    bucket: "backups",
    forcePathStyle: false,
    accessKeyId: new Secret("id"),
    secretAccessKey: new Secret("secret"),
  },
  { kind: "remote_folder", remote: { host, port: 22, user: "me", password: new Secret("p") }, folder: "" },
];

test.each(["10.0.0.5", "127.0.0.1", "169.254.169.254", "::1", "93.184.215.14 192.168.0.1"])(
  "in cloud mode, does not connect to a name that resolves to %s, even if it resolved elsewhere when recorded",
  async (listed) => {
    const addresses = listed.split(" ");
    const names = new MemoryNameRecords();
    const storages = await openStorages(SETTINGS, names);
    for (const target of targets("moving.example.com")) {
      for (const host of ["moving.example.com", "backups.moving.example.com"]) names.set(host, { addresses });
      const used = async () => {
        await using storage = await storages.open(target);
        await storage.put("x", textBody("x"));
      };
      await expect(used()).rejects.toMatchObject({
        code: "unreachable",
        message: expect.stringContaining("only public addresses"),
      });
    }
  },
);

test("a CA file that does not exist stops the start with an error that names its setting", async () => {
  const started = openStorages({ ...SETTINGS, backupCaFile: "/no/such/file" }, new MemoryNameRecords());
  await expect(started).rejects.toThrow("BACKUP_CA_FILE");
});
