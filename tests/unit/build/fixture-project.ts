import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { BuildOptions } from '../../../scripts/build/build-options.ts'
import { buildApplication } from '../../../scripts/build/build-application.ts'
import { describeFault } from '../../../scripts/build/esbuild-messages.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const FIXTURE = resolve(import.meta.dirname, '../../fixtures/build-project')
const PACKAGES = resolve(import.meta.dirname, '../../../node_modules')

/** A copy of the fixture, free to be changed. */
export interface FixtureProject extends AsyncDisposable {
  readonly options: BuildOptions
  /** Adds or replaces files, by path in the project; `undefined` removes one. */
  change(files: Readonly<Record<string, string | undefined>>): Promise<void>
  read(file: string): Promise<string>
  /** Paths of all files below a folder of the project, relative to that folder. */
  list(folder: string): Promise<readonly string[]>
  remove(): Promise<void>
}

/**
 * Copies the fixture. Where files are in `node_modules`, this project's packages are in the folder above.
 * @param name the project's own folder inside a temporary one.
 */
export async function copyProject(
  files: Readonly<Record<string, string | undefined>> = {},
  name = 'project',
): Promise<FixtureProject> {
  const temp = await makeTempDir('build')
  const root = join(temp.path, name)
  await cp(FIXTURE, root, { recursive: true, filter: (source) => source !== join(FIXTURE, 'dist') })
  const hasPackages = Object.keys(files).some((file) => file.startsWith('node_modules/'))
  await symlink(PACKAGES, join(hasPackages ? temp.path : root, 'node_modules'))

  const project: FixtureProject = {
    options: {
      root,
      app: join(root, 'src/app'),
      out: join(root, 'dist'),
      runtime: { folder: join(root, 'src'), compiled: false },
    },
    async change(changed) {
      for (const [file, text] of Object.entries(changed)) {
        const path = join(root, file)
        await mkdir(dirname(path), { recursive: true })
        await (text === undefined ? rm(path) : writeFile(path, text))
      }
    },
    read: (file) => readFile(join(root, file), 'utf8'),
    async list(folder) {
      const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile())
      return files.map((entry) => join(entry.parentPath, entry.name).slice(join(root, folder).length + 1)).toSorted()
    },
    remove: temp.remove,
    [Symbol.asyncDispose]: temp.remove,
  }
  await project.change(files)
  return project
}

/** What a user reads when a build of this project is stopped. Fails where the build succeeds. */
export async function buildFault(
  files: Readonly<Record<string, string | undefined>>,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  await using project = await copyProject(files)
  const stopped = await buildApplication(project.options, env).then(
    () => undefined,
    async (error: unknown) => (await describeFault(error)) ?? `A defect of the build: ${String(error)}`,
  )
  if (stopped === undefined) throw new Error('The build succeeded.')
  return stopped
}
