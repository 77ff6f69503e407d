import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { LibraryManifestParser } from "../../adapters/manifests/manifest_parser.ts";
import { detect, type Detection } from "../../domain/detection/detect.ts";
import { isManifest } from "../../domain/detection/manifests.ts";

type Files = Readonly<Record<string, string>>;

const parser = new LibraryManifestParser();
/** Files that the Python, Go, Rust, PHP and Ruby ecosystems read. */
const NAMES = [
  ".php-version",
  ".python-version",
  ".ruby-version",
  ".tool-versions",
  "Cargo.lock",
  "Cargo.toml",
  "Gemfile",
  "Gemfile.lock",
  "Pipfile",
  "Procfile",
  "app.py",
  "composer.json",
  "config.py",
  "config/database.yml",
  "go.mod",
  "go.work",
  "index.php",
  "manage.py",
  "mise.toml",
  "mysite/settings.py",
  "mysite/wsgi.py",
  "poetry.lock",
  "pyproject.toml",
  "requirements.txt",
  "runtime.txt",
  "rust-toolchain",
  "setup.cfg",
  "setup.py",
];
/** A program of each, so that every rule applies. */
const PROGRAMS: readonly Files[] = [
  { "requirements.txt": "flask\ndjango\nfastapi\ngunicorn\n", "manage.py": "", "mysite/settings.py": "" },
  { "requirements.txt": "flask\nfastapi\n", "app.py": "app = Flask(__name__)" },
  { "go.mod": "module x", "main.go": "package main" },
  { "Cargo.toml": "[package]\nname = 'x'\n[workspace]\nmembers = ['*']", "src/main.rs": "" },
  { "composer.json": '{"require":{"laravel/framework":"*"}}', artisan: "" },
  { Gemfile: 'gem "rails"', "config/application.rb": "", "config.ru": "" },
];

function detected(files: Files): Detection {
  const text = (path: string) => (isManifest(path) && Object.hasOwn(files, path) ? files[path] : undefined);
  const parsed = new Map<string, unknown>();
  const data = (path: string) => {
    if (!parsed.has(path)) parsed.set(path, parser.parse(path, text(path) ?? ""));
    return parsed.get(path);
  };
  return detect({ paths: Object.keys(files).toSorted(), text, data });
}

/** Everything in a detection that a shell will interpret. */
function commands({ installCommand, buildCommand, startCommand, image }: Detection): string {
  const setup = image?.setup.map(({ command }) => command) ?? [];
  const packages = [...(image?.buildPackages ?? []), ...(image?.runPackages ?? [])];
  return [installCommand, buildCommand, startCommand, image?.buildImage, image?.runImage, ...setup, ...packages].join(
    "\n",
  );
}

describe("detect() on hostile files", () => {
  // Quadratic time would take minutes here, far beyond the timeout of any test.
  for (const piece of [
    " ",
    "\n",
    "a",
    "a\n",
    "1.",
    "a = ",
    '["',
    'gem "a"\n',
    "ruby '",
    "    a (1)\n",
    "require (\n",
    'ENV["A',
    'os.environ["A"]\n',
    "from a ",
    "class A(BaseSettings):\n    a: ",
    'DJANGO_SETTINGS_MODULE", ',
    "-r a\n",
    "app = ",
  ]) {
    test(`reads many of ${JSON.stringify(piece)} in every manifest`, () => {
      const text = piece.repeat(Math.ceil(40_000 / piece.length));
      const everywhere = Object.fromEntries(NAMES.map((name) => [name, text]));
      for (const program of PROGRAMS) {
        expect(detected({ ...everywhere, ...program }).warnings).toBeArray();
        for (const name of Object.keys(program)) expect(detected({ ...program, [name]: text }).warnings).toBeArray();
      }
    });
  }

  test("never throws for random manifests, and is deterministic", () => {
    const scalar = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.array(fc.string()));
    const table = fc.dictionary(
      fc.constantFrom(
        "package",
        "project",
        "tool",
        "poetry",
        "uv",
        "workspace",
        "members",
        "bin",
        "name",
        "require",
        "dependencies",
        "scripts",
        "php",
        "config",
        "platform",
        "toolchain",
        "channel",
        "requires-python",
      ),
      fc.oneof(scalar, fc.dictionary(fc.string(), scalar), fc.array(fc.dictionary(fc.string(), scalar))),
    );
    const toml = table.map((value) =>
      Object.entries(value)
        .map(([key, member]) => `${key} = ${JSON.stringify(member)}\n`)
        .join(""),
    );
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      table.map((value) => JSON.stringify(value)),
      toml,
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...PROGRAMS),
        fc.dictionary(fc.constantFrom(...NAMES), text, { maxKeys: 4 }),
        (program, files) => {
          expect(detected({ ...program, ...files })).toEqual(detected({ ...program, ...files }));
        },
      ),
      { numRuns: 50 },
    );
  });

  test("puts no project name that a shell could misread into a command, an image or a package", () => {
    const evil = fc.constantFrom(
      "; evil",
      "$(evil)",
      "`evil`",
      "a && evil",
      "evil\n",
      "--evil=x evil",
      "'evil'",
      "../evil",
      "evil:latest\nRUN evil",
    );
    fc.assert(
      fc.property(evil, (word) => {
        const value = JSON.stringify(word);
        const everywhere: readonly Files[] = [
          {
            "pyproject.toml": `[project]\nname = ${value}\nrequires-python = ${value}\ndependencies = [${value}]\n[project.scripts]\n${value} = "a"\n[tool.uv]\nrequired-version = ${value}\n[tool.uv.workspace]\nmembers = [${value}]\n`,
          },
          {
            "requirements.txt": `-r ${word}\nflask\n${word}\n`,
            [`${word}/app.py`]: "app = Flask()",
            "runtime.txt": word,
          },
          {
            "manage.py": `"DJANGO_SETTINGS_MODULE", ${value}`,
            [`${word}/wsgi.py`]: "",
            [`${word}/settings.py`]: "STATIC_ROOT = 1",
          },
          { [`${word}/manage.py`]: "", "requirements.txt": "django", ".python-version": word },
          { "go.mod": `module ${word}\ngo ${word}\n`, [`cmd/${word}/main.go`]: "package main", ".go-version": word },
          {
            "Cargo.toml": `[package]\nname = ${value}\nrust-version = ${value}\n[[bin]]\nname = ${value}\n`,
            "src/main.rs": "",
          },
          {
            "Cargo.toml": `[workspace]\nmembers = [${value}]\n`,
            [`${word}/Cargo.toml`]: '[package]\nname = "a"',
            [`${word}/src/main.rs`]: "",
          },
          {
            "composer.json": `{"require":{"php":${value},${JSON.stringify(`ext-${word}`)}:"*"}}`,
            "index.php": "",
            ".php-version": word,
          },
          {
            Gemfile: `ruby ${value}\ngem ${value}`,
            "config.ru": "",
            ".ruby-version": word,
            "Gemfile.lock": `RUBY VERSION\n   ruby ${word}\n`,
          },
          { "mise.toml": `[tools]\npython = ${value}\nruby = ${value}\n`, "main.py": "", "config.ru": "" },
        ];
        for (const files of everywhere) expect(commands(detected(files))).not.toContain("evil");
      }),
      { numRuns: 20 },
    );
  });
});
