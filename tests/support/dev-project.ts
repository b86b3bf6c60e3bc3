import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { startDevServer, type DevServer, type DevServerOptions } from '../../scripts/dev/dev-server.ts'
import { makeTempDir } from './temp-dir.ts'

const PROJECT = resolve(import.meta.dirname, '../..')

/** A development server for a copy of an application, which tests may change. */
export interface DevProject {
  readonly dev: DevServer
  /** Absolute path of the copy. */
  readonly root: string
  /** Everything that the terminal would show. */
  readonly printed: readonly string[]
  /** Replaces text in a file of the application. */
  replace(file: string, from: string, to: string): Promise<void>
  close(): Promise<void>
}

/**
 * Copies the runtime and an application of `tests/fixtures`, and starts the development server.
 * @param fixture its folder's name.
 * @param options further ones of the server; `prepare` changes the application before its start.
 */
export async function startDevProject(
  fixture: string,
  env: Readonly<Record<string, string>> = {},
  {
    prepare,
    ...options
  }: Pick<DevServerOptions, 'certificate'> & { readonly prepare?: (app: string) => Promise<void> } = {},
): Promise<DevProject> {
  const temp = await makeTempDir('dev')
  const root = temp.path
  const app = join(root, 'src/app')
  for (const folder of ['client', 'server', 'shared']) {
    await cp(join(PROJECT, 'src', folder), join(root, 'src', folder), { recursive: true })
  }
  await cp(join(PROJECT, 'tests/fixtures', fixture), app, { recursive: true })
  await cp(join(PROJECT, 'package.json'), join(root, 'package.json'))
  await symlink(join(PROJECT, 'node_modules'), join(root, 'node_modules'))
  await prepare?.(app)
  const printed: string[] = []
  const dev = await startDevServer({
    ...options,
    root,
    runtime: { folder: join(root, 'src'), compiled: false },
    app,
    out: join(root, '.dev'),
    port: 0,
    env: { ...process.env, DATA_DIR: join(root, 'data'), ...env },
    session: 'one',
    print: (text) => void printed.push(text),
  })
  return {
    dev,
    root,
    printed,
    async replace(file, from, to) {
      const text = await readFile(join(app, file), 'utf8')
      if (!text.includes(from)) throw new Error(`${file} does not contain ${from}`)
      await writeFile(join(app, file), text.replace(from, to))
    },
    async close() {
      await dev.close()
      await temp.remove()
    },
  }
}
