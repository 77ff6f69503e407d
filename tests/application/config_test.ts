import { describe, expect, test } from "bun:test";
import { BadSetting, readConfig } from "../../config.ts";

describe.each(["PUBLIC_URL", "CLOUD_API_URL"])("%s", (name) => {
  const read = (value: string) => {
    const { publicUrl, cloudApiUrl } = readConfig({ [name]: value }, "/srv");
    return name === "PUBLIC_URL" ? publicUrl : cloudApiUrl;
  };

  test.each([
    ["https://slipway.example.com", "https://slipway.example.com"],
    ["http://127.0.0.1:4400/", "http://127.0.0.1:4400"],
    ["https://example.com/slipway//", "https://example.com/slipway"],
    ["http://[::1]:4400", "http://[::1]:4400"],
    ["HTTPS://example.com/a@b", "HTTPS://example.com/a@b"],
  ])("takes %s", (value, expected) => {
    expect(read(value)).toBe(expected);
  });

  test.each([
    "https://ada:swordfish@example.com",
    "https://ada@example.com/",
    "https://:swordfish@example.com",
    "https://@example.com",
    "https://example.com?swordfish=1",
    "https://example.com/?",
    "https://example.com/#swordfish",
    "https://example.com#",
    "https:example.com",
    "https:\\\\example.com",
    "https://swordfish\\@example.com",
    "https://",
    "ftp://swordfish",
    "swordfish",
  ])("refuses %s in one line that names the setting and repeats nothing", (value) => {
    try {
      read(value);
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof BadSetting)) throw error;
      expect(error.message).toStartWith(`${name} must be `);
      expect(error.message).not.toMatch(/swordfish|ada|\n/);
    }
  });
});

test("backups may use this machine's disk only when told, below a folder in its plain form", () => {
  const read = (environment: Record<string, string>) => {
    const { backupAllowLocal, backupLocalRoot } = readConfig(environment, "/srv");
    return [backupAllowLocal, backupLocalRoot];
  };
  expect(read({})).toEqual([false, undefined]);
  expect(read({ BACKUP_ALLOW_LOCAL_DESTINATION: "false", BACKUP_LOCAL_ROOT: "" })).toEqual([false, undefined]);
  const settings = { BACKUP_ALLOW_LOCAL_DESTINATION: "true", BACKUP_LOCAL_ROOT: "/backups//a/../b/" };
  expect(read(settings)).toEqual([true, "/backups/b"]);
});
