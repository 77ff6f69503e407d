import type { AssetPackages } from "../node/asset_packages.ts";
import { type ImageRecipe, recipe } from "../../image_recipe.ts";
import { officialImage } from "../../official_image.ts";

interface Extension {
  /** `build` are the Debian packages needed to compile it, `run` those needed at run time. */
  readonly build?: readonly string[];
  readonly run?: readonly string[];
  /** From PECL, not part of PHP itself. */
  readonly pecl?: boolean;
  readonly configure?: string;
}

/** Extensions that can be added to the official images; they already include the others. */
const EXTENSIONS: Readonly<Record<string, Extension>> = {
  bcmath: {},
  bz2: { build: ["libbz2-dev"], run: ["libbz2-1.0"] },
  calendar: {},
  exif: {},
  gd: {
    build: ["libpng-dev", "libjpeg62-turbo-dev", "libfreetype6-dev"],
    run: ["libpng16-16", "libjpeg62-turbo", "libfreetype6"],
    configure: "docker-php-ext-configure gd --with-jpeg --with-freetype",
  },
  gettext: {},
  gmp: { build: ["libgmp-dev"], run: ["libgmp10"] },
  intl: { build: ["libicu-dev"], run: ["libicu72"] },
  ldap: { build: ["libldap2-dev"], run: ["libldap-2.5-0"] },
  mysqli: {},
  pcntl: {},
  pdo_mysql: {},
  pdo_pgsql: { build: ["libpq-dev"], run: ["libpq5"] },
  pgsql: { build: ["libpq-dev"], run: ["libpq5"] },
  soap: { build: ["libxml2-dev"], run: ["libxml2"] },
  sockets: {},
  xsl: { build: ["libxslt1-dev"], run: ["libxslt1.1"] },
  zip: { build: ["libzip-dev"], run: ["libzip4"] },
  apcu: { pecl: true },
  imagick: { build: ["libmagickwand-dev"], run: ["libmagickwand-6.q16-6"], pecl: true },
  mongodb: { build: ["libssl-dev"], run: ["libssl3"], pecl: true },
  redis: { pecl: true },
};
const PHP = { name: "php", firstOnBookworm: ["8.1.20"] };
const APACHE = "/etc/apache2";
const COMPOSER =
  "curl -fsSL https://getcomposer.org/installer | php -- --quiet --install-dir=/usr/local/bin --filename=composer";

/** Input of `phpImage`. */
export interface PhpBuild {
  readonly version: string;
  readonly extensions: readonly string[];
  readonly usesComposer: boolean;
  readonly assets: AssetPackages | undefined;
  readonly manifests: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The document root, which contains `index.php`; `undefined` when there is none. */
  readonly pages: string | undefined;
}

/**
 * Creates an image recipe for PHP with Apache: one stage builds extensions and packages, and only the results go into
 * the other.
 */
export function phpImage(request: PhpBuild): ImageRecipe {
  const { version, extensions, usesComposer, assets, manifests, environment, pages } = request;
  const known = [...new Set(extensions)].toSorted().flatMap((name) => {
    const extension = Object.hasOwn(EXTENSIONS, name) ? EXTENSIONS[name] : undefined;
    return extension === undefined ? [] : [{ name, ...extension }];
  });
  const tools = usesComposer ? ["git", "unzip"] : [];
  const commands = [...compile(known), ...(usesComposer ? [COMPOSER] : [])];
  const made = known.length > 0 ? ["/usr/local/lib/php/extensions", "/usr/local/etc/php/conf.d"] : [];
  return recipe(officialImage(PHP, version, "apache"), {
    buildPackages: [...new Set([...tools, ...known.flatMap(({ build }) => build ?? [])])],
    runPackages: [...new Set(known.flatMap(({ run }) => run ?? []))],
    setup: [
      ...commands.map((command) => ({ command, stages: ["build" as const] })),
      ...(assets?.setup ?? []),
      ...(pages === undefined ? [] : [{ command: apacheSetup(pages), stages: ["run" as const] }]),
    ],
    manifests,
    caches: [...(usesComposer ? ["/root/.composer/cache"] : []), ...(assets?.caches ?? [])],
    environment: {
      ...(usesComposer && { COMPOSER_ALLOW_SUPERUSER: "1", COMPOSER_HOME: "/root/.composer" }),
      ...environment,
    },
    startCommand: pages === undefined ? null : "apache2-foreground",
    keep: [".", ...made],
  });
}

/**
 * Makes Apache listen on `PORT` and route everything that is not a file to `index.php`, as PHP's built-in server does;
 * hidden files stay hidden.
 */
function apacheSetup(pages: string): string {
  const root = pages === "." ? "/app" : `/app/${pages}`;
  const lines = [
    "ServerName localhost",
    "Listen ${PORT}",
    "<VirtualHost *:${PORT}>",
    `DocumentRoot ${root}`,
    'RedirectMatch 404 "/\\.(?!well-known/)"',
    "php_flag display_errors off",
    "php_flag log_errors on",
    // Frameworks read variables from $_ENV.
    "php_value variables_order EGPCS",
    `<Directory ${root}>`,
    "Options -Indexes +FollowSymLinks",
    "AllowOverride All",
    "Require all granted",
    "DirectoryIndex index.php index.html",
    "FallbackResource /index.php",
    "</Directory>",
    "</VirtualHost>",
  ];
  const written = `printf '%s\\n' ${lines.map((line) => `'${line}'`).join(" ")} > ${APACHE}/sites-available/000-default.conf`;
  return `a2enmod -q expires headers rewrite && : > ${APACHE}/ports.conf && ${written}`;
}

function compile(extensions: readonly ({ readonly name: string } & Extension)[]): string[] {
  const own = extensions.filter(({ pecl }) => pecl !== true).map(({ name }) => name);
  const foreign = extensions.filter(({ pecl }) => pecl === true).map(({ name }) => name);
  return [
    ...extensions.flatMap(({ configure }) => configure ?? []),
    ...(own.length === 0 ? [] : [`docker-php-ext-install -j"$(nproc)" ${own.join(" ")}`]),
    ...(foreign.length === 0
      ? []
      : [`pecl install ${foreign.join(" ")} && docker-php-ext-enable ${foreign.join(" ")}`]),
  ];
}
