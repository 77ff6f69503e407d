import { type ImageRecipe, recipe } from "../../image_recipe.ts";
import { officialImage } from "../../official_image.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import type { PythonInstaller } from "./installer.ts";
import type { Requirements } from "./requirements.ts";

/** Packages with the system libraries that they need and the slim image lacks. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  psycopg2: ["libpq5"],
  psycopg: ["libpq5"],
  mysqlclient: ["libmariadb3"],
  "opencv-python": ["libgl1", "libglib2.0-0"],
  weasyprint: ["libpango-1.0-0", "libpangoft2-1.0-0", "libharfbuzz-subset0"],
  "python-magic": ["libmagic1"],
  pyodbc: ["unixodbc"],
  pdf2image: ["poppler-utils"],
  pytesseract: ["tesseract-ocr"],
  pydub: ["ffmpeg"],
  cairosvg: ["libcairo2"],
  "python-ldap": ["libldap-2.5-0"],
  lightgbm: ["libgomp1"],
};
const CACHES: Readonly<Record<PythonInstaller["name"], readonly string[]>> = {
  pip: ["/root/.cache/pip"],
  uv: ["/root/.cache/uv"],
  poetry: ["/root/.cache/pypoetry"],
  pdm: ["/root/.cache/pdm"],
  pipenv: ["/root/.cache/pipenv", "/root/.cache/pip"],
};
const PYTHON = { name: "python", firstOnBookworm: ["3.8.17", "3.9.17", "3.10.12", "3.11.4", "3.12.0"] };

/**
 * Creates an image recipe for Python: built in an image with compilers, run in a smaller one with the same interpreter.
 */
export function pythonImage(
  folder: ProjectFolder,
  version: string,
  installer: PythonInstaller,
  requirements: Requirements,
): ImageRecipe {
  const libraries = Object.entries(LIBRARIES).flatMap(([name, packages]) => (requirements.has(name) ? packages : []));
  const tool = installer.version === undefined ? installer.name : `${installer.name}==${installer.version}`;
  const command = `pip install --no-cache-dir --root-user-action=ignore ${tool}`;
  return recipe(officialImage(PYTHON, version, "slim"), {
    // Compilers are needed only for packages.
    buildImage: officialImage(PYTHON, version, installer.install === undefined ? "slim" : undefined),
    runPackages: [...new Set(libraries)],
    setup: installer.name === "pip" ? [] : [{ command, stages: ["build"] }],
    manifests: inContext(folder, installer),
    caches: installer.install === undefined ? [] : CACHES[installer.name],
    environment: { PYTHONUNBUFFERED: "1", ...ENVIRONMENTS[installer.name] },
    wholeRepository: installer.wholeRepository,
  });
}

const ENVIRONMENTS: Readonly<Record<PythonInstaller["name"], Readonly<Record<string, string>>>> = {
  pip: { PIP_DISABLE_PIP_VERSION_CHECK: "1" },
  // Uses the interpreter of the image, so that the final image has it too; links into the cache would be broken there.
  uv: { UV_PYTHON_DOWNLOADS: "never", UV_LINK_MODE: "copy" },
  poetry: {},
  pdm: { PDM_CHECK_UPDATE: "false" },
  pipenv: {},
};

function inContext(folder: ProjectFolder, { manifests, wholeRepository }: PythonInstaller): readonly string[] {
  return wholeRepository ? manifests.map((path) => `${folder.path}/${path}`) : manifests;
}
