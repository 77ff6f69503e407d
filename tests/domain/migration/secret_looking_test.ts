import { describe, expect, test } from "bun:test";
import { looksSecret, maskedLabel, maskedText, maskedWords } from "../../../domain/migration/secret_looking.ts";

const CANARY = "Kanarie7";

describe("looksSecret() recognises", () => {
  test.each([
    "PASSWORD",
    "DB_PASSWORD",
    "PGPASSWORD",
    "POSTGRES_PASSWORD",
    "MYSQL_PWD",
    "SMTP_PASS",
    "DBPASS",
    "REDIS_PASS1",
    "db_pw",
    "dbPassword",
    "PASSPHRASE",
    "SECRET",
    "SECRET_KEY_BASE",
    "CLIENT_SECRET",
    "ACCESS_TOKEN",
    "githubToken",
    "API_KEY",
    "apiKey",
    "AWS_ACCESS_KEY_ID",
    "APP_KEY",
    "TS_AUTHKEY",
    "ENCRYPTION_KEY",
    "PRIVATE_KEY",
    "SSH_KEY",
    "JWT",
    "SALT",
    "SENTRY_DSN",
    "SESSION_COOKIE",
    "SLACK_WEBHOOK",
    "AZURE_CONNECTION_STRING",
    "GOOGLE_CREDENTIALS",
    "spring.datasource.password",
    "LICENSE",
  ])("the name %s", (name) => {
    expect(looksSecret(name, CANARY)).toBe(true);
  });

  test.each([
    "postgres://shop:Kanarie7@db:5432/shop",
    "redis://:Kanarie7@cache",
    "amqp://u:p@ss@host/",
    "postgres://u:p/s#w?d@host/db",
    "https://0123456789abcdefghij@sentry.example.com/1",
    "https://ghp_16C7e42F292c@git.example.com/a.git",
    "https://hooks.example.com/x?token=Kanarie7",
    "Server=db;Database=x;User=sa;Password=Kanarie7;",
    "-Xmx1g -Dspring.datasource.password=Kanarie7",
    "--requirepass Kanarie7 --requirepass Kanarie7",
    '{"db":{"password":"Kanarie7"}}',
    "{'api_key': 'Kanarie7'}",
    "Authorization: Bearer Kanarie7",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "glpat-abcdefghij",
    "sk_live_51H8x",
    "AKIAIOSFODNN7EXAMPLE",
    "$2b$12$abcdefghijklmnopqrstuv",
    "admin $2a$14$abcdefghijklmnopqrstuv",
    "5f4dcc3b5aa765d61d8327deb882cf99",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "dGhpcyBpcyBhIHNlY3JldCBrZXk4Nzg3",
  ])("the value %s", (value) => {
    expect(looksSecret("X", value)).toBe(true);
  });
});

describe("looksSecret() lets pass", () => {
  test.each([
    ["NODE_ENV", "production"],
    ["DATABASE_URL", "postgres://db:5432/shop"],
    ["URL", "https://shop.example.com:8443/path/@scope"],
    ["PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
    ["REGION", "eu-central-1-production-cluster"],
    ["HOST", "my-very-long-service-name-in-staging"],
    ["CLASS", "CorrectHorseBatteryStaple"],
    ["IMAGE", "registry.example.com/team/app:1.27.3"],
    ["DATA_DIR", "/var/lib/postgresql/data/pgdata15"],
    ["TZ", "Europe/Amsterdam"],
    ["LANG", "en_US.UTF-8"],
    ["STARTED", "2026-05-01T00:00:00.000Z"],
    ["POSTGRES_PASSWORD_FILE", "/run/secrets/postgres"],
    ["TOKEN_TTL", "3600"],
    ["PASSWORD_RESET_ENABLED", "yes"],
    ["REQUIRE_TOKEN", "true"],
    ["KEYCLOAK_REALM", "shop"],
    ["MONKEY_BARS", "3"],
    ["AUTHOR", "somebody"],
    ["PASSWORD", ""],
    ["JAVA_OPTS", "-Xmx1g -Dfile.encoding=UTF-8 -Duser.timezone=UTC"],
  ])("%s=%s", (name, value) => {
    expect(looksSecret(name, value)).toBe(false);
  });
});

describe("maskedWords()", () => {
  test.each([
    [
      ["redis-server", "--requirepass", CANARY],
      ["redis-server", "--requirepass", "***"],
    ],
    [
      ["redis-cli", "-a", CANARY, "ping"],
      ["redis-cli", "-a", "***", "ping"],
    ],
    [
      ["mysqladmin", "ping", `-p${CANARY}`],
      ["mysqladmin", "ping", "-p***"],
    ],
    [
      ["server", `--db-password=${CANARY}`, "--port=80"],
      ["server", "--db-password=***", "--port=80"],
    ],
    [
      ["server", "--token", "--verbose"],
      ["server", "--token", "--verbose"],
    ],
    [
      ["curl", "-u", `admin:${CANARY}`, "http://x/"],
      ["curl", "-u", "admin:***", "http://x/"],
    ],
    [
      ["curl", "-H", `Authorization: Bearer ${CANARY}`],
      ["curl", "-H", "Authorization: ***"],
    ],
    [
      ["app", `postgres://u:a@${CANARY}@db/x`],
      ["app", "postgres://u:***@db/x"],
    ],
    [
      ["app", `https://x.example.com/?a=b&token=${CANARY}`],
      ["app", "https://x.example.com/?a=b&token=***"],
    ],
    [
      ["sh", "-c", `PASSWORD='${CANARY} two' exec app`],
      ["sh", "-c", "PASSWORD=*** exec app"],
    ],
    [
      ["sh", "-c", `app --api-key ${CANARY} --port 80`],
      ["sh", "-c", "app --api-key *** --port 80"],
    ],
    [
      ["CMD-SHELL", `mysql -uroot -p${CANARY} -e 1`],
      ["CMD-SHELL", "mysql -uroot -p*** -e 1"],
    ],
    [
      ["CMD-SHELL", `redis-cli -h db -a ${CANARY} ping`],
      ["CMD-SHELL", "redis-cli -h db -a *** ping"],
    ],
    [
      ["sh", "-c", `curl --user me:${CANARY} http://x`],
      ["sh", "-c", "curl --user me:*** http://x"],
    ],
  ])("masks %j", (words, masked) => {
    expect(maskedWords(words)).toEqual(masked);
  });

  test.each([
    [["nginx", "-g", "daemon off;"]],
    [["node", "server.js", "--port", "3000"]],
    [["postgres", "-c", "max_connections=200", "-c", "shared_buffers=256MB"]],
    [["CMD", "pg_isready", "-U", "shop", "-p", "5432"]],
    [["sh", "-c", "echo $0; while :; do sleep 1; done"]],
    [["curl", "-f", "http://localhost:8080/health"]],
    [["--config", "/etc/app/config.yml"]],
    [[]],
  ])("leaves %j", (words) => {
    expect(maskedWords(words)).toEqual(words);
  });
});

describe("maskedLabel()", () => {
  test.each([
    ["traefik.http.middlewares.auth.basicauth.users", "admin:plain-hash"],
    ["traefik.http.middlewares.x.basicAuth.users", "admin:x"],
    ["caddy.basicauth.admin", "$2a$14$abcdefghijk"],
    ["my.api.token", CANARY],
    ["com.example.password", CANARY],
  ])("hides %s", (name, value) => {
    expect(maskedLabel(name, value)).toBe("***");
  });

  test.each([
    ["traefik.http.routers.web.rule", "Host(`shop.example.com`) && PathPrefix(`/api`)"],
    ["com.docker.compose.project", "shop"],
    ["com.docker.compose.project.config_files", "/srv/shop/compose.yml,/srv/shop/compose.prod.yml"],
    ["org.opencontainers.image.version", "1.27.3-alpine"],
    ["token.free", "yes"],
  ])("shows %s", (name, value) => {
    expect(maskedLabel(name, value)).toBe(value);
  });

  test("hides only the secret in an address", () => {
    expect(maskedLabel("backup.target", `s3://id:${CANARY}@bucket/x`)).toBe("s3://id:***@bucket/x");
  });
});

test.each([
  "a",
  "pass",
  "password",
  "a=",
  "a://b:",
  ' a="',
  " --token ",
  "redis-cli -a",
  "mysql -p",
  "token:",
  " -u a",
  "-",
])("a long text of %j is cut, and what is shown of it has no secret", (part) => {
  const long = part.repeat(Math.ceil(400_000 / part.length));
  expect(maskedText(long).length).toBeLessThan(10_000);
  expect(maskedText(`${long} --password ${CANARY}`)).not.toContain(CANARY);
  expect(looksSecret("NOTE", long)).toBe(true);
});
