import { describe, expect, test } from "bun:test";
import { BadSetting, readConfig } from "../../config.ts";

function baseImages(value: string) {
  return readConfig({ BASE_IMAGES: value }, "/srv").baseImages;
}

function directory(value?: string) {
  return readConfig({ ACME_DIRECTORY_URL: value }, "/srv").acmeDirectoryUrl;
}

describe.each(["PUBLIC_URL", "CLOUD_API_URL"])("%s", (name) => {
  const read = (value: string) => {
    const withToken = name === "CLOUD_API_URL" && { CLOUD_TOKEN: "slp_x" };
    const { publicUrl, cloudApiUrl } = readConfig({ [name]: value, ...withToken }, "/srv");
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

describe("EDGE_TLS_PORT, EDGE_HTTPS_REDIRECT, EDGE_HSTS_SECONDS", () => {
  test("redirect to HTTPS without HSTS by default", () => {
    const preset = { edgeTlsPort: 4443, edgeHttpsRedirect: true, edgeHstsSeconds: 0 };
    expect(readConfig({}, "/srv")).toMatchObject(preset);
    const given = { EDGE_TLS_PORT: "443", EDGE_HTTPS_REDIRECT: "off", EDGE_HSTS_SECONDS: "31536000" };
    const expected = { edgeTlsPort: 443, edgeHttpsRedirect: false, edgeHstsSeconds: 31_536_000 };
    expect(readConfig(given, "/srv")).toMatchObject(expected);
  });
});

describe("CADDY_ADMIN", () => {
  test.each(["http://127.0.0.1:2019", "http://localhost:2019", "http://[::1]:2019", "unix:/run/caddy/admin.sock"])(
    "may be %s",
    (value) => expect(readConfig({ EDGE: "caddy", CADDY_ADMIN: value }, "/srv").caddyAdmin).toBe(value),
  );

  test("is the address that Caddy has by default", () => {
    expect(readConfig({}, "/srv").caddyAdmin).toBe("http://127.0.0.1:2019");
  });

  test.each([
    "https://127.0.0.1:2019",
    "http://caddy.example.com:2019",
    "http://127.0.0.1:2019/config",
    "unix:admin",
    "x",
  ])("refuses %s by name", (value) =>
    expect(() => readConfig({ CADDY_ADMIN: value }, "/srv")).toThrow("CADDY_ADMIN must be "),
  );

  test.each(["EDGE_PORT", "EDGE_TLS_PORT"])("needs a number for %s", (name) => {
    expect(() => readConfig({ EDGE: "caddy", [name]: "0" }, "/srv")).toThrow(`${name} must be a whole number from 1`);
  });
});

describe("the certificate authority", () => {
  test("is Let's Encrypt by default, another one, or off", () => {
    expect(directory()).toBe("https://acme-v02.api.letsencrypt.org/directory");
    expect(directory("https://localhost:14000/dir")).toBe("https://localhost:14000/dir");
    expect(directory("off")).toBeUndefined();
  });

  test.each([
    ["ACME_DIRECTORY_URL", "http://ca.example.com/swordfish"],
    ["ACME_DIRECTORY_URL", "https://ada:swordfish@ca.example.com/dir"],
    ["ACME_DIRECTORY_URL", "swordfish"],
    ["ACME_EMAIL", "swordfish"],
    ["ACME_EMAIL", "ada@swordfish"],
    ["ACME_EMAIL", "ada@example.com,swordfish@example.com"],
    ["ACME_CA_FILE", "relative/swordfish"],
  ])("refuses %s=%s by name", (name, value) => {
    const read = () => readConfig({ [name]: value }, "/srv");
    expect(read).toThrow(`${name} must be `);
    expect(read).not.toThrow("swordfish");
  });
});

describe("EDGE_WORKERS", () => {
  test("is a number of threads, one by default", () => {
    expect(readConfig({}, "/srv").edgeWorkers).toBe(1);
    expect(readConfig({ EDGE_WORKERS: "4" }, "/srv").edgeWorkers).toBe(4);
  });

  test.each(["0", "65", "1.5", "x"])("refuses %j by name", (value) => {
    expect(() => readConfig({ EDGE_WORKERS: value }, "/srv")).toThrow(
      "EDGE_WORKERS must be a whole number from 1 to 64",
    );
  });
});

describe("PROBATION_SECONDS, HEALTH_TIMEOUT_SECONDS and STOP_TIMEOUT_SECONDS", () => {
  test("are numbers, also with decimals", () => {
    const defaults = { probationSeconds: 1.5, healthTimeoutSeconds: 60, stopTimeoutSeconds: 10 };
    expect(readConfig({}, "/srv")).toMatchObject(defaults);
    const settings = { PROBATION_SECONDS: "0.25", HEALTH_TIMEOUT_SECONDS: "300", STOP_TIMEOUT_SECONDS: "0" };
    const given = { probationSeconds: 0.25, healthTimeoutSeconds: 300, stopTimeoutSeconds: 0 };
    expect(readConfig(settings, "/srv")).toMatchObject(given);
  });

  test.each(["-1", "1,5", "x", "1e3", ".5", "4000"])("refuse %j by name", (value) => {
    expect(() => readConfig({ PROBATION_SECONDS: value }, "/srv")).toThrow(
      "PROBATION_SECONDS must be a number from 0 to 3600",
    );
    expect(() => readConfig({ HEALTH_TIMEOUT_SECONDS: value }, "/srv")).toThrow("HEALTH_TIMEOUT_SECONDS must be");
    expect(() => readConfig({ STOP_TIMEOUT_SECONDS: value }, "/srv")).toThrow("STOP_TIMEOUT_SECONDS must be");
  });
});

describe("BASE_IMAGES", () => {
  test("is empty when unset", () => {
    expect(readConfig({}, "/srv").baseImages).toEqual([]);
    expect(baseImages(" , ")).toEqual([]);
  });

  test.each([
    "node=mirror.example.com/node,oven/=mirror.example.com/oven/,*=mirror.example.com/hub/",
    "node=mirror.example.com/node\n  oven/=mirror.example.com/oven/ ,\t*=mirror.example.com/hub/,",
  ])("takes %j", (value) => {
    expect(baseImages(value)).toEqual([
      { from: "docker.io/library/node", to: "mirror.example.com/node" },
      { from: "docker.io/oven/", to: "mirror.example.com/oven/" },
      { from: "docker.io/", to: "mirror.example.com/hub/" },
    ]);
  });

  test.each(["swordfish", "node=a,swordfish=", "node=a oven/=swordfish", "node = swordfish"])(
    "refuses %s in one line that names the setting and repeats nothing",
    (value) => {
      expect(() => baseImages(value)).toThrow(BadSetting);
      expect(() => baseImages(value)).toThrow(
        /^BASE_IMAGES must be pairs such as (?!.*swordfish).*number [12] is none$/,
      );
    },
  );
});

function localBackups(environment: Record<string, string>) {
  const { backupAllowLocal, backupLocalRoot } = readConfig(environment, "/srv");
  return [backupAllowLocal, backupLocalRoot];
}

test("backups may use this machine's disk only when allowed, below a normalized folder", () => {
  expect(localBackups({})).toEqual([false, undefined]);
  expect(localBackups({ BACKUP_ALLOW_LOCAL_DESTINATION: "false", BACKUP_LOCAL_ROOT: "" })).toEqual([false, undefined]);
  const settings = { BACKUP_ALLOW_LOCAL_DESTINATION: "true", BACKUP_LOCAL_ROOT: "/backups//a/../b/" };
  expect(localBackups(settings)).toEqual([true, "/backups/b"]);
});

function readSettings(settings: Record<string, string>) {
  return readConfig(settings, "/srv");
}

describe("the settings of the git host", () => {
  const PEM = "-----BEGIN RSA PRIVATE KEY-----\\nswordfish\\n-----END RSA PRIVATE KEY-----";
  const APP = { GITHOST_APP_ID: "7", GITHOST_APP_SLUG: "slipway", GITHOST_APP_PRIVATE_KEY: PEM };

  test("default to the public host, and to the API of an enterprise host", () => {
    expect(readSettings({})).toMatchObject({
      githostUrl: "https://github.com",
      githostApiUrl: "https://api.github.com",
    });
    const enterprise = readSettings({ GITHOST_WEB_URL: "https://git.example.com/" });
    expect(enterprise.githostApiUrl).toBe("https://git.example.com/api/v3");
    expect(readSettings({ GITHOST_API_URL: "https://api.example.com" }).githostApiUrl).toBe("https://api.example.com");
    expect(readSettings({})).toMatchObject({ githostApp: undefined, githostOAuth: undefined, githostToken: undefined });
  });

  test("take an app whose key has line breaks written out", () => {
    const { githostApp } = readSettings(APP);
    expect(githostApp).toMatchObject({ id: 7, slug: "slipway" });
    expect(githostApp!.privateKey.reveal().split("\n")).toHaveLength(3);
  });

  test.each([
    [{ GITHOST_APP_ID: "7" }, "GITHOST_APP_SLUG must be set too"],
    [{ GITHOST_APP_ID: "7", GITHOST_APP_SLUG: "x" }, "GITHOST_APP_PRIVATE_KEY must be set too"],
    [{ ...APP, GITHOST_APP_ID: "" }, "GITHOST_APP_ID must be set too"],
    [{ ...APP, GITHOST_APP_ID: "seven" }, "GITHOST_APP_ID must be a whole number"],
    [{ ...APP, GITHOST_APP_SLUG: "a/b" }, "GITHOST_APP_SLUG must be"],
    [{ ...APP, GITHOST_APP_PRIVATE_KEY: "swordfish" }, "GITHOST_APP_PRIVATE_KEY must be a private key in PEM format"],
    [{ GITHOST_APP_PRIVATE_KEY_FILE: "/nonexistent/swordfish" }, "GITHOST_APP_PRIVATE_KEY_FILE must be a file"],
    [{ GITHOST_CLIENT_SECRET: "swordfish" }, "GITHOST_CLIENT_SECRET needs GITHOST_CLIENT_ID"],
  ])("refuse %p in one line that repeats no secret", (settings, message) => {
    try {
      readSettings(settings as unknown as Record<string, string>);
      expect("accepted").toBe("refused");
    } catch (error) {
      expect(error).toBeInstanceOf(BadSetting);
      expect(String((error as Error).message)).toStartWith(message);
      expect(String((error as Error).message)).not.toMatch(/swordfish|\n/);
    }
  });
});

test.each([
  [{ CLOUD_API_URL: "https://cloud.example.com" }, "CLOUD_API_URL needs CLOUD_TOKEN"],
  [{ CLOUD_TOKEN: "swordfish" }, "CLOUD_TOKEN needs CLOUD_API_URL"],
  [
    { SLIPWAY_MODE: "cloud", CLOUD_API_URL: "https://cloud.example.com", CLOUD_TOKEN: "swordfish" },
    "CLOUD_API_URL must not be set with SLIPWAY_MODE=cloud",
  ],
])("refuses a link that cannot work", (given, expected) => {
  expect(() => readConfig(given, "/srv")).toThrow(expected);
});
